// Reports in an executed notebook, in Chromium. scripts/test-browser runs it where Python can execute notebooks.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileOf, withPage } from "./browser.mjs";

const name = "notebook";
const isAbsent = process.env.NOTEBOOK !== "yes";

/** The requests of the notebook's own page, as for its formulas, which do not come from a report. */
const isOfNotebook = (line) => /^request: (about:srcdoc|https:\/\/cdn)|^console: Failed to load resource|^console: .*(MathJax|mermaid|require)/i.test(line);

/** The same page without the scripts that a notebook loads from elsewhere. */
function withoutNetwork() {
  const html = readFileSync(fileOf(name), "utf8");
  writeFileSync(fileOf(name), html.replaceAll(/<script[^>]*\bsrc="https?:[^>]*><\/script>/g, ""));
}

test("two reports and a table work in a notebook, apart from each other", { skip: isAbsent }, async () => {
  withoutNetwork();
  await withPage(name, {}, async (page, noise) => {
    const frames = page.locator("iframe");
    assert.equal(await frames.count(), 2);
    const [first, second] = [0, 1].map((k) => page.frameLocator("iframe >> nth=" + k));
    assert.equal(await first.locator("h1").textContent(), "First report");
    assert.equal(await second.locator("h1").textContent(), "Second report </iframe><script>alert(1)</script>");
    // Their scripts run, each on its own page.
    assert.equal(await first.locator("#rows-table tbody tr").count(), 12);
    assert.equal(await second.locator("#rows-table tbody tr").count(), 8);
    await first.locator("#search").fill("row 150");
    assert.equal(await first.locator("#rows-table tbody tr:visible").count(), 1);
    assert.equal(await second.locator("#rows-table tbody tr:visible").count(), 8);
    await first.locator("#rows-table tbody tr:visible button.link").click();
    await second.locator("#slider").press("End");
    assert.match(await second.locator("#consequence").textContent(), /91 of 91 rows/);
    assert.equal(await first.locator("#detail h3").textContent(), "row 150");
    // The notebook's style and theirs do not meet.
    const size = (place) => place.evaluate((body) => getComputedStyle(body).fontSize);
    assert.equal(await size(first.locator("body")), "15px");
    const outside = await page.evaluate(() => getComputedStyle(document.body).fontFamily);
    assert.notEqual(await first.locator("body").evaluate((body) => getComputedStyle(body).fontFamily), outside);
    // A frame is as wide as its cell, and nothing in it is wider.
    for (const frame of [first, second]) {
      assert.ok(await frame.locator("body").evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      assert.ok((await frame.locator("body").evaluate(() => innerWidth)) > 500);
      // It cannot reach the notebook.
      assert.equal(await frame.locator("body").evaluate(() => { try { return Boolean(parent.document); } catch { return false; } }), false);
    }
    // A link within the page stays within the frame.
    await first.locator('.summary a[href="#rows"], header a[href="#rows"]').last().click();
    await first.locator("body").evaluate(() => new Promise((done) => setTimeout(done, 1000)));
    assert.ok((await first.locator("body").evaluate(() => scrollY)) > 300);
    const [download] = await Promise.all([page.waitForEvent("download"), first.locator("#export").click()]);
    assert.match(download.suggestedFilename(), /\.csv$/);
    // What `outliers` returns for a list is a table.
    assert.match(await page.locator("table caption").textContent(), /The 2 oddest of 152 rows/);
    noise.splice(0, noise.length, ...noise.filter((line) => !isOfNotebook(line)));
  });
});
