// The report in Chromium: what a reader does with it, and what the page must not do. scripts/test-browser runs it.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { desktop, embedded, exported, fileOf, onMap, phone, rowNames, seriousFindings, withPage } from "./browser.mjs";

const { PICTURES } = process.env;

test("loads with its first row selected, and asks for nothing", async () => {
  for (const name of ["orders", "drift", "masked", "large", "hostile"]) {
    await withPage(name, {}, async (page) => {
      const data = embedded(name);
      assert.equal((await rowNames(page)).length, data.rows.length);
      assert.equal(await page.locator("#detail h3").textContent(), data.rows[0].name);
      assert.equal(await page.locator("#consequence").textContent(), data.steps[data.start].sentence);
    });
  }
});

test("sorts by each column, both ways, by keyboard", async () => {
  await withPage("orders", {}, async (page) => {
    const names = await rowNames(page);
    const head = page.locator('#rows-table th[data-sort="p_value"]');
    await head.locator("button").focus();
    await page.keyboard.press("Enter");
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    assert.deepEqual(await rowNames(page), names);
    await page.keyboard.press("Enter");
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    assert.deepEqual(await rowNames(page), [...names].reverse());
    await page.locator('#rows-table th[data-sort="name"] button').click();
    const byName = await rowNames(page);
    assert.deepEqual(byName, [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true })));
  });
});

test("filters by words, reason, group and flag", async () => {
  await withPage("orders", {}, async (page) => {
    const data = embedded("orders");
    await page.fill("#search", data.rows[3].name);
    assert.deepEqual(await rowNames(page), [data.rows[3].name]);
    assert.equal(await page.locator("#rows-count").textContent(), `1 of ${data.rows.length} rows`);
    await page.click("#clear");
    const column = data.rows[1].reasons[0].columns[0];
    await page.selectOption("#reason", String(column));
    const withReason = data.rows.filter((row) => row.reasons.some((reason) => reason.columns.includes(column)));
    assert.deepEqual(await rowNames(page), withReason.map((row) => row.name));
    await page.click("#clear");
    await page.click('button[data-group="1"]');
    assert.deepEqual(await rowNames(page), data.groups[1].rows.map((index) => data.rows[index].name));
    await page.click("#clear");
    await page.check("#only-flagged");
    const flagged = data.rows.filter((row) => row.p_value <= data.steps[data.start].p);
    assert.deepEqual(await rowNames(page), flagged.map((row) => row.name));
  });
});

test("the slider says what follows, and flags rows", async () => {
  for (const name of ["orders", "drift"]) {
    await withPage(name, {}, async (page) => {
      const data = embedded(name);
      await page.focus("#slider");
      await page.keyboard.press("Home");
      for (let k = 0; k < 4; k += 1) await page.keyboard.press("ArrowRight");
      const step = data.steps[4];
      assert.equal(await page.locator("#consequence").textContent(), step.sentence);
      assert.match(await page.getAttribute("#slider", "aria-valuetext"), new RegExp(step.words));
      const flagged = data.rows.filter((row) => row.p_value <= step.p).length;
      assert.equal(await page.locator("#rows-table tr.flagged").count(), flagged);
      if (step.drift) assert.equal(await page.locator("#drift-flagged").textContent(), step.drift);
    });
  }
});

test("a point of the map selects its row, and a row its point", async () => {
  await withPage("orders", {}, async (page) => {
    const data = embedded("orders");
    await page.mouse.click(...(await onMap(page, 1)));
    assert.equal(await page.locator("#detail h3").textContent(), data.rows[1].name);
    assert.equal(await page.locator("#rows-table tr.selected .name").textContent(), data.rows[1].name);
    assert.match(await page.locator("#announce").textContent(), new RegExp(`Selected ${data.rows[1].name}`));
    const before = await page.locator("#map .ring").getAttribute("cx");
    await page.locator("#rows-table tbody tr").nth(4).locator("button").click();
    assert.equal(await page.locator("#detail h3").textContent(), data.rows[4].name);
    assert.notEqual(await page.locator("#map .ring").getAttribute("cx"), before);
    // The same without a pointer.
    await page.focus("#map-next");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#detail h3").textContent(), data.rows[5].name);
  });
});

test("the map zooms, pans, hovers and changes its axes", async () => {
  await withPage("orders", {}, async (page) => {
    const range = () => page.evaluate(() => structuredClone(map.range));
    const whole = await range();
    await page.click("#zoom-in");
    const near = await range();
    assert.ok(near[0][1] - near[0][0] < whole[0][1] - whole[0][0]);
    const box = await page.locator("#map").boundingBox();
    await page.mouse.move(box.x + 300, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x + 240, box.y + 170, { steps: 4 });
    await page.mouse.up();
    const moved = await range();
    assert.ok(moved[0][0] > near[0][0] && Math.abs(moved[0][1] - moved[0][0] - (near[0][1] - near[0][0])) < 1e-9);
    await page.click("#zoom-all");
    assert.deepEqual(await range(), whole);
    await page.mouse.move(...(await onMap(page, 1)));
    assert.match(await page.locator("#map-tip").textContent(), /percentile/);
    for (const option of await page.$$eval("#map-x option", (options) => options.map((own) => own.value))) {
      await page.selectOption("#map-x", option);
      assert.ok((await page.locator("#map .tick").count()) >= 3);
    }
  });
});

test("the selected row shows values, shares, neighbours and the counterfactual", async () => {
  await withPage("orders", {}, async (page) => {
    const data = embedded("orders");
    const row = data.rows[1];
    await page.locator("#rows-table tbody tr").nth(1).locator("button").click();
    const text = await page.locator("#detail").innerText();
    for (const expected of [row.sentence, row.counterfactual.sentence, row.reasons[0].sentence, row.neighbours[0].name]) {
      assert.ok(text.includes(expected), expected);
    }
    assert.equal(await page.locator("#detail .values tbody tr").count(), data.columns.length);
    const first = await page.locator("#detail .values tbody th").first().textContent();
    const most = row.contributions.indexOf(Math.max(...row.contributions));
    assert.equal(first, data.columns[most].name);
  });
});

test("exports the filtered and the marked rows with full precision", async () => {
  await withPage("orders", {}, async (page) => {
    const data = embedded("orders");
    await page.selectOption("#group", "0");
    let [name, csv] = await exported(page);
    assert.equal(name, data.export);
    let lines = csv.replace("\ufeff", "").trim().split("\r\n");
    assert.equal(lines.length, 1 + data.groups[0].rows.length);
    const first = data.rows[data.groups[0].rows[0]];
    assert.ok(lines[1].includes(`,${first.depth},`) && lines[1].includes(first.name), lines[1]);
    assert.ok(lines[0].endsWith(data.columns.map((column) => column.name).join(",")));
    await page.click("#clear");
    await page.locator("#rows-table tbody tr").nth(2).locator("input").check();
    assert.equal(await page.locator("#export").textContent(), "Export marked 1 row as CSV");
    [, csv] = await exported(page);
    lines = csv.trim().split("\r\n");
    assert.equal(lines.length, 2);
    assert.ok(lines[1].includes(data.rows[2].name));
  });
});

test("the content security policy is in force", async () => {
  await withPage("orders", {}, async (page, noise) => {
    const ran = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "window.intruder = true;";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", '<p id="styled" style="color: rgb(1, 2, 3)">x</p>');
      const fetched = await fetch("http://127.0.0.1:9/").then(() => true, () => false);
      const image = await new Promise((resolve) => {
        const picture = new Image();
        picture.onload = () => resolve(true);
        picture.onerror = () => resolve(false);
        picture.src = "http://127.0.0.1:9/x.png";
      });
      const styled = getComputedStyle(document.getElementById("styled")).color === "rgb(1, 2, 3)";
      return [window.intruder === true, fetched, image, styled];
    });
    assert.deepEqual(ran, [false, false, false, false]);
    const refused = noise.splice(0).filter((line) => /Content Security Policy/.test(line));
    assert.ok(refused.length >= 4, refused.join("\n"));
  });
});

test("hostile names and values are text", async () => {
  await withPage("hostile", {}, async (page) => {
    const data = embedded("hostile");
    assert.ok((await page.title()).startsWith("Hostile </script>"));
    assert.equal(await page.locator("main img, main script").count(), 0);
    assert.ok((await page.locator("#detail h3").textContent()).startsWith("</script><script>"));
    for (let k = 0; k < 4; k += 1) await page.locator("#rows-table tbody tr").nth(k).locator("button.link").click();
    await page.selectOption("#map-x", "0");
    await page.fill("#search", "<script>");
    assert.ok((await rowNames(page)).length > 0);
    await page.fill("#search", "");
    const [, csv] = await exported(page);
    assert.ok(csv.includes("\"'=HYPERLINK("), "a formula must not reach a spreadsheet");
    assert.ok(csv.includes(",'=1+1,"));
    assert.ok(data.rows[2].name.endsWith("(10,000 letters)"));
    // Nothing is wider than the window.
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  });
  await withPage("hostile", phone, async (page) => {
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  });
});

test("masked columns leave no value", async () => {
  const html = readFileSync(fileOf("masked"), "utf8");
  const plain = embedded("orders");
  const amounts = plain.rows.map((row) => row.cells[3][0]).filter((text) => text.length > 5);
  assert.ok(amounts.length > 5);
  assert.deepEqual(amounts.filter((text) => html.includes(text)), []);
  assert.ok(!html.includes("Overseas"));
});

test("can be read without a script", async () => {
  await withPage("orders", { javaScriptEnabled: false }, async (page) => {
    const text = await page.locator("body").innerText();
    const data = embedded("orders");
    for (const expected of [data.rows[39].name, data.rows[0].reasons[0].sentence, "SHA-256", "Left out", data.steps[data.start].sentence]) {
      assert.ok(text.includes(expected), expected);
    }
    assert.equal(await page.locator("button:visible, input:visible, select:visible").count(), 0);
    assert.ok(await page.locator("#map").isVisible());
  });
});

test("works in the frame of a notebook", async () => {
  const escaped = readFileSync(fileOf("orders"), "utf8").replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const frame = `<iframe sandbox="allow-scripts allow-downloads" width="1200" height="800" srcdoc="${escaped}"></iframe>`;
  writeFileSync(fileOf("frame"), `<!DOCTYPE html><meta charset="utf-8">${frame}`);
  await withPage("frame", {}, async (page, noise) => {
    const inner = page.frameLocator("iframe");
    await inner.locator("#search").fill(embedded("orders").rows[2].name);
    assert.equal(await inner.locator("#rows-table tbody tr:visible").count(), 1);
    const [download] = await Promise.all([page.waitForEvent("download"), inner.locator("#export").click()]);
    assert.equal(download.suggestedFilename(), embedded("orders").export);
    assert.deepEqual(noise.splice(0).filter((line) => line !== "request: about:srcdoc"), []);
  });
});

test("prints all rows", async () => {
  await withPage("orders", {}, async (page) => {
    await page.emulateMedia({ media: "print" });
    assert.ok(await page.locator("#rows-table tbody tr").last().isVisible());
    const clipped = await page.$eval("#rows-scroll", (box) => box.scrollHeight > box.clientHeight + 2);
    assert.equal(clipped, false);
    assert.ok((await page.pdf()).length > 10000);
  });
});

test("a page of a million rows is below 3 MB", () => {
  assert.ok(readFileSync(fileOf("large")).length < 3e6);
});

for (const [device, options] of [["desktop", desktop], ["phone", phone]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`no serious finding of axe-core, ${device}, ${colorScheme}`, async () => {
      for (const name of ["orders", "drift", "masked", "hostile"]) {
        await withPage(name, { ...options, colorScheme, bypassCSP: true }, async (page) => {
          assert.deepEqual(await seriousFindings(page), [], name);
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is too wide`);
        });
        if (PICTURES && name !== "hostile") {
          await withPage(name, { ...options, colorScheme }, async (page) => {
            await page.screenshot({ path: join(PICTURES, `report-${name}-${device}-${colorScheme}.png`), fullPage: true });
          });
        }
      }
    });
  }
}
