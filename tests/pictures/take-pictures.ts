// Takes the pictures of the documentation (/docs) in both themes, of a new instance that it fills:
//
//   node tests/pictures/take-pictures.ts [NAME …]      (about two minutes)
//
// It writes apps/web/public/docs/pictures/{name}-{light,dark}.webp. Look at them before you commit them.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { launchChromium } from "../chromium.ts";
import { newVisitor } from "../e2e/browser.ts";
import { repositoryRoot, startTowpath } from "../instance/towpath-process.ts";
import { fillInstance } from "./fill-instance.ts";
import { scenes } from "./scenes.ts";

const directory = join(repositoryRoot, "apps/web/public/docs/pictures");
const only = process.argv.slice(2);
/** Maximum size of a picture. */
const maxBytes = 60_000;
/** On the screen; pictures have more pixels, so that small text stays sharp. */
const viewport = { width: 1080, height: 680 };

/** Encodes WebP by Chromium, with lower and lower quality until the picture is small enough. */
async function take(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const quality of [82, 70, 58, 46]) {
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality });
    const bytes = Buffer.from(data, "base64");
    if (bytes.length > maxBytes) continue;
    await writeFile(join(directory, `${name}.webp`), bytes);
    console.log(`${name}.webp: ${bytes.length} bytes, quality ${quality}`);
    return;
  }
  throw new Error(`${name} is larger than ${maxBytes} bytes: show less of the page.`);
}

const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-pictures-"));
// The ports that readers have, too.
const instance = await startTowpath(dataDirectory, { web: 3000, gateway: 8080 });
const browser = await launchChromium();
try {
  const visitor = await newVisitor(browser, { viewport, deviceScaleFactor: 1.4 });
  const { page } = visitor;
  const slug = await fillInstance(instance, visitor);
  await mkdir(directory, { recursive: true });
  for (const [name, show] of Object.entries(scenes)) {
    if (only.length > 0 && !only.includes(name)) continue;
    await page.emulateMedia({ colorScheme: "light" });
    try {
      await show(page, `${instance.url}/${slug}`);
    } catch (error) {
      const seen = join(tmpdir(), `${name}.png`);
      await page.screenshot({ path: seen });
      console.error(`${name} doesn't show what it should (${seen}):`, error);
      process.exitCode = 1;
      continue;
    }
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await page.locator(`html[data-theme=${theme}]`).waitFor();
      await page.waitForTimeout(500);
      await take(page, `${name}-${theme}`);
    }
  }
} finally {
  await browser.close();
  await instance.stop();
  await rm(dataDirectory, { recursive: true, force: true });
}
