// What the tests of pages share: a browser, and what is on a page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const { CHROMIUM, PAGES } = process.env;
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const desktop = { viewport: { width: 1360, height: 900 } };
export const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

let browser;
before(async () => {
  // Chromium's own sandbox does not start in containers; the pages are ours.
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});
after(() => browser?.close());

export const fileOf = (name) => join(PAGES, `${name}.html`);

/** Opens a page, and fails afterwards if it wrote to the console, threw, or asked for anything but itself. */
export async function withPage(name, options, body) {
  const context = await browser.newContext({ acceptDownloads: true, ...desktop, ...options });
  const page = await context.newPage();
  const address = pathToFileURL(fileOf(name)).href;
  const noise = [];
  page.on("console", (message) => noise.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith("data:") && !url.startsWith("blob:")) noise.push(`request: ${url}`);
  });
  try {
    await page.goto(address);
    await body(page, noise);
    assert.deepEqual(noise, []);
  } finally {
    await context.close();
  }
}

export const rowNames = (page) => page.$$eval("#rows-table tbody tr:not([hidden]) .name", (cells) => cells.map((cell) => cell.textContent));
export const embedded = (name) => {
  const html = readFileSync(fileOf(name), "utf8");
  return JSON.parse(html.match(/id="report-data">(.*?)<\/script>/s)[1]);
};

/** Where an odd row is on the map, in pixels of the window. */
export const onMap = (page, index) =>
  page.evaluate((wanted) => {
    document.getElementById("map").scrollIntoView({ block: "center", behavior: "instant" });
    const [x, y] = positions("odd").find((point) => point[2] === wanted);
    const box = document.getElementById("map").getBoundingClientRect();
    return [box.left + (x / map.width) * box.width, box.top + (y / map.height) * box.height];
  }, index);

export async function exported(page) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#export")]);
  return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
}

/** What axe-core finds that is serious or critical. */
export async function seriousFindings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter((found) => ["serious", "critical"].includes(found.impact));
  return serious.map((found) => `${found.id}: ${found.nodes.map((node) => node.target).join(" | ")}`);
}
