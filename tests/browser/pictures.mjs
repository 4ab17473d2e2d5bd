// Draws docs/pictures/report-*.png: the pages that the program writes about three tables, and what changed between two halves of one.
//
//     CHROMIUM=/usr/bin/chromium PROGRAM=target/release/lossdepth node tests/browser/pictures.mjs TABLES OUT
//
// TABLES is a folder with orders.csv (that of examples/), breast-cancer.csv (scikit-learn's table), breast-cancer-first.csv and
// breast-cancer-later.csv (its first 300 rows and the others) and thyroid.mat (ODDS). Phones are cut into three strips.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, parse, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [tables, out] = process.argv.slice(2).map((path) => resolve(path));
const program = resolve(process.env.PROGRAM);
const folder = mkdtempSync(join(tmpdir(), "pictures-"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

/** Writes the page of a table, and returns its address. */
function pageOf(name, ...args) {
  const page = join(folder, `${parse(name).name}.html`);
  execFileSync(program, ["report", join(tables, name), ...args, "--quiet", "--out", page]);
  return pathToFileURL(page).href;
}

async function shown(address, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForTimeout(300);
  return page;
}

const desktop = { viewport: { width: 1440, height: 1000 }, deviceScaleFactor: 0.5 };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const strip = { width: 235, gap: 7 };

/** A long picture cut into three strips that stand beside each other. */
async function inStrips(bytes, path) {
  const page = await shown("about:blank", { viewport: { width: 3 * strip.width + 2 * strip.gap, height: 100 } });
  const height = await page.evaluate(
    async ({ source, width, gap }) => {
      const picture = new Image();
      picture.src = source;
      await picture.decode();
      const tall = Math.ceil((picture.naturalHeight * width) / picture.naturalWidth / 3);
      document.body.style.cssText = `margin: 0; background: #888; display: flex; gap: ${gap}px`;
      for (let k = 0; k < 3; k += 1) {
        const part = document.createElement("div");
        part.style.cssText = `width: ${width}px; height: ${tall}px; background: url(${source}) 0 ${-k * tall}px / ${width}px auto no-repeat`;
        document.body.append(part);
      }
      return tall;
    },
    { source: `data:image/png;base64,${bytes.toString("base64")}`, ...strip },
  );
  await page.setViewportSize({ width: 3 * strip.width + 2 * strip.gap, height });
  await page.screenshot({ path });
  await page.context().close();
}

for (const name of ["orders.csv", "breast-cancer.csv", "thyroid.mat"]) {
  const address = pageOf(name);
  for (const colorScheme of ["light", "dark"]) {
    const file = (device) => join(out, `report-${parse(name).name}-${device}-${colorScheme}.png`);
    const page = await shown(address, { ...desktop, colorScheme });
    await page.screenshot({ path: file("desktop"), fullPage: true });
    await page.context().close();
    const small = await shown(address, { ...phone, colorScheme });
    await inStrips(await small.screenshot({ fullPage: true }), file("phone"));
    await small.context().close();
  }
}
const top = await shown(pathToFileURL(join(folder, "orders.html")).href, { viewport: { width: 1360, height: 900 }, deviceScaleFactor: 0.75, colorScheme: "light" });
await top.screenshot({ path: join(out, "report-top.png") });
const drift = await shown(pageOf("breast-cancer-later.csv", "--reference", join(tables, "breast-cancer-first.csv")), { viewport: { width: 1100, height: 900 }, colorScheme: "light" });
await drift.locator("#drift").screenshot({ path: join(out, "report-drift.png") });
await browser.close();
console.log(readFileSync(join(out, "report-top.png")).length > 0 ? `pictures in ${out}` : "nothing");
