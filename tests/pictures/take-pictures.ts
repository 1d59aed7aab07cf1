// Takes the pictures of the documentation (/docs) and of the landing page in both themes, of a new instance that it fills:
//
//   node tests/pictures/take-pictures.ts [NAME …]      (about five minutes; ports 3000 and 8080 must be free)
//
// It writes apps/web/public/docs/pictures/{name}-{light,dark}.webp, and {name}-phone-{light,dark}.webp for those of the
// landing page. Look at them before you commit them.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../chromium.ts";
import { newVisitor } from "../e2e/browser.ts";
import { repositoryRoot, startTowpath } from "../instance/towpath-process.ts";
import { fillInstance } from "./fill-instance.ts";
import { scenes } from "./scenes.ts";
import { startWaterwaysModel } from "./waterways-model.ts";

const directory = join(repositoryRoot, "apps/web/public/docs/pictures");
const only = process.argv.slice(2);
const unknown = only.filter((name) => !(name in scenes));
if (unknown.length > 0)
  throw new Error(`There is no picture ${unknown.join(", ")}. Take: ${Object.keys(scenes).join(" ")}`);
/** Maximum size of a picture. */
const maxBytes = 60_000;
/**
 * In CSS pixels. Pictures have more, by `scale`: twice as many as they take up on a page, so that small text stays sharp on
 * screens with two pixels for each.
 */
const screens = {
  "": { width: 1152, height: 720, scale: 1.5 },
  "-phone": { width: 390, height: 640, scale: 2 },
} as const;
type Screen = (typeof screens)[keyof typeof screens];

/** Encodes WebP by Chromium, with lower and lower quality until the picture is small enough. */
async function take(page: Page, name: string, { width, height, scale }: Screen): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const [x, y] = (await page.evaluate("[scrollX, scrollY]")) as [number, number];
  const clip = { x, y, width, height, scale };
  for (const quality of [72, 64, 56, 48, 40]) {
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality, clip });
    const bytes = Buffer.from(data, "base64");
    if (bytes.length > maxBytes) continue;
    await writeFile(join(directory, `${name}.webp`), bytes);
    console.log(`${name}.webp: ${bytes.length} bytes, quality ${quality}`);
    return;
  }
  throw new Error(`${name} is larger than ${maxBytes} bytes: show less of the page.`);
}

/** In both themes. No field has the cursor, which blinks, and nothing is under the pointer. */
async function takeBoth(page: Page, name: string, screen: Screen): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate("document.activeElement?.blur()");
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.locator(`html[data-theme=${theme}]`).waitFor();
    await page.waitForTimeout(400);
    await take(page, `${name}-${theme}`, screen);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

const pictures = Object.entries(scenes).flatMap(([name, scene]) =>
  Object.entries(screens)
    .filter(([suffix]) => suffix === "" || scene.onPhone)
    .map(([suffix, screen]) => ({
      name: name + suffix,
      scene,
      screen,
      isTaken: only.length === 0 || only.includes(name),
    })),
);

/** The site isn't built without the pictures that its pages name: a new one is blank at first. */
async function takeMissing(browser: Browser): Promise<void> {
  await mkdir(directory, { recursive: true });
  const page = await browser.newPage();
  for (const { name, screen } of pictures) {
    await page.setViewportSize(screen);
    for (const theme of ["light", "dark"])
      if (!existsSync(join(directory, `${name}-${theme}.webp`))) await take(page, `${name}-${theme}`, screen);
  }
  await page.close();
}

const browser = await launchChromium();
await takeMissing(browser);
const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-pictures-"));
const model = await startWaterwaysModel();
const models = [{ name: "Local model", provider: "openai-compatible", model: "local", url: model.url, key: "none" }];
// The ports that readers have, too.
const ports = { web: 3000, gateway: 8080 };
const instance = await startTowpath(dataDirectory, ports, { TOWPATH_CHAT_MODELS: JSON.stringify(models) });
try {
  const visitor = await newVisitor(browser, { viewport: screens[""] });
  const { page } = visitor;
  // On a busy machine.
  page.setDefaultTimeout(90_000);
  const filled = await fillInstance(instance, visitor);
  for (const { name, scene, screen } of pictures.filter(({ isTaken }) => isTaken)) {
    await page.setViewportSize(screen);
    try {
      await scene.show(page, filled);
      await takeBoth(page, name, screen);
    } catch (error) {
      const seen = join(tmpdir(), `${name}.png`);
      await page.screenshot({ path: seen });
      console.error(`${name} doesn't show what it should (${seen}):`, error);
      process.exitCode = 1;
    }
  }
  await filled.pool.end();
} finally {
  await browser.close();
  await instance.stop();
  await model.close();
  await rm(dataDirectory, { recursive: true, force: true });
}
