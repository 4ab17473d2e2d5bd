// Pages that the program writes about real and hostile tables, in Chromium. scripts/test-browser runs it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desktop, embedded, exported, fileOf, onMap, phone, rowNames, seriousFindings, withPage } from "./browser.mjs";

const { PAGES, PROGRAM, ORDERS } = process.env;
const run = (...args) => execFileSync(PROGRAM, [...args, "--quiet"], { cwd: PAGES, encoding: "utf8" });

/** A table whose names and cells try to be something else than text. */
function hostileTable() {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const names = ["<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "שלום עולם", "n".repeat(10000)];
  const lines = [[...names, "level"].map(quoted).join(",")];
  const levels = ["</script><b>x</b>", "plain", "\u202eright to left", "=HYPERLINK(1)", "عربي"];
  for (let i = 0; i < 200; i += 1) lines.push([i % 7, (i * i) % 11, i % 5, (i * 3) % 13, quoted(levels[i % 3])].join(","));
  lines.push([900, 3, 2, 5, quoted(`<i>${"y".repeat(10000)}</i>`)].join(","), [3, 700, 1, 4, quoted("=1+1")].join(","));
  return `${lines.join("\n")}\n`;
}

const rows = readFileSync(ORDERS, "utf8").split("\n");
writeFileSync(join(PAGES, "real-orders.csv"), rows.join("\n"));
writeFileSync(join(PAGES, "old.csv"), rows.slice(0, 700).join("\n"));
writeFileSync(join(PAGES, "new.csv"), [rows[0], ...rows.slice(700)].join("\n"));
writeFileSync(join(PAGES, "hostile.csv"), hostileTable());
run("report", "real-orders.csv", "--top", "40", "--out", "real-orders.html");
run("report", "new.csv", "--reference", "old.csv", "--out", "real-drift.html");
run("report", "hostile.csv", "--title", "</title><script>alert(3)</script>", "--out", "real-hostile.html");
run("report", "real-orders.csv", "--mask", "amount,order_id", "--out", "real-masked.html");
run("report", "real-orders.csv", "--method", "logistic", "--scale", "robust", "--out", "real-logistic.html");
const wide = [...Array(60).keys()].map((i) => [...Array(30).keys()].map((j) => (i * (j + 3) * 7919) % (101 + j)).join(","));
writeFileSync(join(PAGES, "wide.csv"), [[...Array(30).keys()].map((j) => `c${j}`).join(","), ...wide].join("\n"));
run("report", "wide.csv", "--out", "real-wide.html");
const all = ["real-orders", "real-drift", "real-hostile", "real-masked", "real-wide"];

test("pages of the program load without a message or a request", async () => {
  for (const name of all) {
    await withPage(name, {}, async (page) => {
      const data = embedded(name);
      assert.equal((await rowNames(page)).length, data.rows.length);
      assert.equal(await page.locator("#detail h3").textContent(), data.rows[0].name);
      assert.match(await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content"), /default-src 'none'/);
    });
  }
});

test("sorts, filters and slides", async () => {
  await withPage("real-orders", {}, async (page) => {
    const data = embedded("real-orders");
    await page.locator('#rows-table th[data-sort="depth"] button').click();
    await page.locator('#rows-table th[data-sort="depth"] button').click();
    const deepest = [...data.rows].sort((a, b) => b.depth - a.depth)[0];
    assert.equal((await rowNames(page))[0], deepest.name);
    await page.fill("#search", data.rows[5].name);
    assert.deepEqual(await rowNames(page), [data.rows[5].name]);
    await page.click("#clear");
    await page.focus("#slider");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator("#consequence").textContent(), data.steps[1].sentence);
    assert.match(data.steps[1].sentence, /2 of 1,202 rows are flagged/);
  });
  await withPage("real-drift", {}, async (page) => {
    const data = embedded("real-drift");
    assert.match(await page.locator("#consequence").textContent(), /would be expected by chance.*false discovery rate/);
    await page.focus("#slider");
    await page.keyboard.press("End");
    assert.equal(await page.locator("#drift-flagged").textContent(), data.steps.at(-1).drift);
    assert.match(await page.locator("#drift").innerText(), /chance explains/);
    assert.match(await page.locator("#groups").innerText(), /rows like these: .* before, .* now/);
  });
});

test("a point selects its row, axes change, and rows are exported", async () => {
  await withPage("real-orders", {}, async (page) => {
    const data = embedded("real-orders");
    await page.mouse.click(...(await onMap(page, 1)));
    assert.equal(await page.locator("#detail h3").textContent(), data.rows[1].name);
    const detail = await page.locator("#detail").innerText();
    for (const expected of [data.rows[1].sentence, data.rows[1].counterfactual.sentence, data.rows[1].neighbours[0].name]) {
      assert.ok(detail.includes(expected), expected);
    }
    for (const [index, axis] of data.map.axes.entries()) {
      await page.selectOption("#map-x", String(index));
      assert.ok((await page.locator("#map .tick").count()) >= 3, axis.label);
    }
    await page.fill("#search", data.rows[2].name);
    const [, csv] = await exported(page);
    const lines = csv.replace("\ufeff", "").trim().split("\r\n");
    assert.equal(lines.length, 2);
    assert.ok(lines[1].includes(`,${data.rows[2].depth},`), lines[1]);
  });
});

test("every number on the page is the one of score", async () => {
  const scores = run("score", "real-orders.csv", "--method", "auto").trim().split("\n").map((line) => line.split(","));
  const head = scores.shift();
  const column = (name) => head.indexOf(name);
  const byName = new Map(scores.map((row) => [row[0], row]));
  const sorted = scores.map((row) => Number(row[column("depth")])).sort((a, b) => a - b);
  const rounded = (x) => Number(x.toPrecision(2));
  await withPage("real-orders", {}, async (page) => {
    const data = embedded("real-orders");
    const shown = await page.$$eval("#rows-table tbody tr", (lines) => lines.map((line) => [...line.querySelectorAll(".name, td.num")].map((cell) => cell.textContent)));
    for (const [index, [, name, p, depth]] of shown.entries()) {
      const row = byName.get(name);
      const exact = Number(row[column("depth")]);
      assert.equal(data.rows[index].depth, exact);
      // `auto` has no standard error: not a number in the file, nothing on the page.
      assert.equal(row[column("stderr")], "NaN");
      assert.equal(data.rows[index].stderr, null);
      assert.equal(data.rows[index].error, Number(row[column("error")]));
      assert.equal(Number(depth), rounded(exact), name);
      // The p-value is the share of the rows that are at most as deep.
      const rank = sorted.filter((other) => other <= exact).length;
      assert.equal(Number(p), rounded(rank / sorted.length), name);
      assert.equal(data.rows[index].p_value, rank / sorted.length);
    }
    // What each step of the slider says it flags.
    for (const step of data.steps) {
      const flagged = sorted.filter((depth, index) => sorted.findLastIndex((other) => other <= depth) + 1 <= step.p * sorted.length + 1e-9).length;
      assert.ok(step.sentence.includes(`, ${flagged.toLocaleString("en-US")} of 1,202 row`), step.sentence);
    }
  });
});

test("what is shown of the selected row is what outliers and explain say", async () => {
  for (const [name, flags] of [["real-orders", ["--method", "auto"]], ["real-logistic", ["--method", "logistic", "--scale", "robust"]]]) {
    const json = (...args) => JSON.parse(run(...args, "real-orders.csv", ...flags, "--format", "json"));
    const told = json("outliers", "--top", "4").outliers;
    const explained = json("explain", "--shallowest", "4").rows;
    await withPage(name, {}, async (page) => {
      const data = embedded(name);
      for (const [index, row] of told.entries()) {
        await page.locator("#rows-table tbody tr").nth(index).locator("button.link").click();
        assert.equal(await page.locator("#detail h3").textContent(), explained[index].row);
        assert.equal(data.rows[index].depth, explained[index].depth);
        assert.equal(data.rows[index].stderr, explained[index].stderr);
        const detail = await page.locator("#detail").innerText();
        for (const reason of row.reasons) {
          assert.ok(detail.includes(reason.text), reason.text);
          const line = page.locator("#detail .values tbody tr", { has: page.locator("th", { hasText: new RegExp(`^${reason.column}$`) }) });
          const share = await line.locator(".part span").textContent();
          const percent = share === "–" ? 0 : Number(share.replace("%", ""));
          assert.ok(Math.abs(percent - 100 * reason.share) <= 0.5 + 1e-2, `${reason.column} ${share} ${reason.share}`);
        }
        for (const change of row.ordinary_with.slice(0, 4)) assert.ok(detail.includes(`${change.column} ${change.to}`), change.column);
        if (row.stderr > 0) {
          const errors = Math.abs((data.steps[data.start].cut - row.depth) / row.stderr);
          const words = errors < 10 ? errors.toFixed(1) : Math.round(errors).toLocaleString("en-US");
          assert.match(await page.locator("#certainty").textContent(), new RegExp(`(only |is )${words} standard errors`));
        }
      }
    });
  }
});

test("the top of the page names the oddest rows and what to do", async () => {
  await withPage("real-orders", { javaScriptEnabled: false }, async (page) => {
    const data = embedded("real-orders");
    const top = await page.locator("header").innerText();
    for (const row of data.rows.slice(0, 3)) {
      for (const expected of [row.name, row.reasons[0].lead, row.reasons[0].sentence]) assert.ok(top.includes(expected), expected);
      if (row.counterfactual?.columns.length <= 3) assert.ok(top.includes(row.counterfactual.sentence));
    }
    assert.match(top, /How sure: .* Next: check the \d+ flagged rows/);
    const bottom = await page.locator("ol.first").evaluate((list) => list.getBoundingClientRect().bottom);
    assert.ok(bottom < 900, "they are on the first screen");
  });
});

test("a long table of columns is folded, but not on paper or without a script", async () => {
  const shown = (page) => page.locator("table.columns tbody tr:visible").count();
  for (const device of [desktop, phone]) {
    await withPage("real-wide", device, async (page) => {
      assert.equal(await shown(page), 12);
      await page.emulateMedia({ media: "print" });
      assert.equal(await shown(page), 30);
      await page.emulateMedia({ media: "screen" });
      await page.getByRole("button", { name: "Show all 30 columns" }).last().press("Enter");
      assert.equal(await shown(page), 30);
      assert.equal(await page.evaluate(() => document.activeElement.textContent), "c12");
    });
  }
  await withPage("real-wide", { javaScriptEnabled: false }, async (page) => assert.equal(await shown(page), 30));
  await withPage("real-orders", {}, async (page) => assert.equal(await shown(page), embedded("real-orders").columns.length));
});

test("hostile names and cells of a file are text", async () => {
  for (const device of [desktop, phone]) {
    await withPage("real-hostile", device, async (page) => {
      assert.equal(await page.title(), "</title><script>alert(3)</script>");
      assert.equal(await page.locator("main img, main script, main b, main i").count(), 0);
      for (let k = 0; k < 3; k += 1) await page.locator("#rows-table tbody tr").nth(k).locator("button.link").click();
      const text = await page.locator("main").innerText();
      for (const expected of ["<script>alert(1)</script>", "<img src=x", "שלום", "⟨U+202E⟩right to left", "(10,000 letters)"]) {
        assert.ok(text.includes(expected), expected);
      }
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    });
  }
  await withPage("real-hostile", {}, async (page) => {
    const [, csv] = await exported(page);
    assert.ok(csv.includes(",'=1+1"), "a formula must not reach a spreadsheet");
  });
});

test("masked columns leave no value in the file", () => {
  const html = readFileSync(fileOf("real-masked"), "utf8");
  const plain = embedded("real-orders");
  assert.deepEqual(plain.rows.map((row) => row.name).filter((name) => html.includes(name)), []);
  const amount = plain.columns.findIndex((column) => column.name === "amount");
  const values = plain.rows.map((row) => row.cells[amount][0]).filter((text) => text.length > 6);
  assert.ok(values.length > 5);
  assert.deepEqual(values.filter((text) => html.includes(text)), []);
});

test("can be read without a script", async () => {
  await withPage("real-drift", { javaScriptEnabled: false }, async (page) => {
    const text = await page.locator("body").innerText();
    const data = embedded("real-drift");
    for (const expected of [data.rows.at(-1).name, data.rows[0].reasons[0].sentence, "SHA-256 of the model", "What changed"]) {
      assert.ok(text.includes(expected), expected);
    }
    assert.equal(await page.locator("button:visible, input:visible, select:visible").count(), 0);
  });
});

for (const [device, options] of [["desktop", desktop], ["phone", phone]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`no serious finding of axe-core on pages of the program, ${device}, ${colorScheme}`, async () => {
      for (const name of all) {
        await withPage(name, { ...options, colorScheme, bypassCSP: true }, async (page) => {
          assert.deepEqual(await seriousFindings(page), [], name);
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide`);
        });
      }
    });
  }
}
