import axe from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import { launchChromium } from "../../../tests/chromium.ts";
import { isThorough } from "../../../tests/thorough.ts";
import { pageRoutes } from "./page-routes.ts";
import type { Member } from "./visitor.ts";

// Files of a worker share their modules (vitest's `isolate: false`). The browser ends with the worker.
let shared: Promise<Browser> | undefined;

/** Debian's chromium, with contexts that are closed after the tests of a file. Call it at the top of the file. */
export function openBrowser(): {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A page that the member is signed in on, of the site at `url`. */
  signedInPage(url: string, member: Member): Promise<Page>;
} {
  // Many tests check several screens in two themes and widths: half a minute is too short on a busy machine.
  vi.setConfig({ testTimeout: 90_000 });
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    shared ??= launchChromium();
    browser = await shared;
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    for (const page of contexts.flatMap((context) => context.pages()))
      process.stderr.write(`${await describePage(page)}\n`);
  });
  afterAll(() => Promise.all(contexts.map((context) => context.close())));
  const newContext = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: "reduce",
      ...options,
    });
    contexts.push(context);
    return context;
  };
  return {
    newContext,
    signedInPage: async (url, member) => {
      const context = await newContext();
      await signIn(context, url, member);
      return await newPage(context);
    },
  };
}

/** A page at a test's failure: its address, and its contents as read by assistive technology. */
async function describePage(page: Page): Promise<string> {
  const contents = await page.locator("body").ariaSnapshot({ timeout: 2000 }).catch(String);
  return `On ${page.url()}, after the failure:\n${contents}`;
}

/** A page that opens each address until its buttons are ready. */
export async function newPage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const { goto, reload, keyboard } = page;
  const route = page.route.bind(page);
  page.route = async (url, handler, options) => {
    // A call that a test answers must not share its request with others.
    if (url instanceof RegExp && /_serverFn|^\w[\w-]*\\\.\w+$/.test(url.source))
      await route("**/_serverFn/batch", (batch) => batch.fulfill({ status: 404 }));
    return await route(url, handler, options);
  };
  page.goto = async (...address) => {
    const response = await goto.apply(page, address);
    await untilReady(page);
    return response;
  };
  page.reload = async (...options) => {
    const response = await reload.apply(page, options);
    await untilReady(page);
    return response;
  };
  const press = keyboard.press.bind(keyboard);
  keyboard.press = async (...key) => {
    await untilReady(page);
    await press(...key);
  };
  pressOnceReady(page);
  return page;
}

/**
 * Makes `press` of every locator wait until the buttons of its page are ready. `click` waits for an enabled control
 * itself; `press` sends its key to a disabled one, where it is lost.
 */
function pressOnceReady(page: Page): void {
  const locators = Object.getPrototypeOf(page.locator("body")) as Locator;
  if (locatorsThatWait.has(locators)) return;
  locatorsThatWait.add(locators);
  const { press } = locators;
  locators.press = async function (this: Locator, ...key) {
    await this.waitFor({ state: "attached" });
    await untilReady(this.page());
    await press.apply(this, key);
  };
}

const locatorsThatWait = new WeakSet<Locator>();

/** Pages with delayed scripts. */
const scriptless = new WeakSet<Page>();

async function untilReady(page: Page): Promise<void> {
  // Pages with failing scripts are never ready.
  if (!scriptless.has(page)) await untilHydrated(page, 5000).catch(() => {});
}

/**
 * Waits until the page's script has run: buttons that need it wait, too (`PlainButton`). Those below the visible page wait
 * for a sign of a person (`latePart`), which this gives.
 */
export async function untilHydrated(page: Page, timeout = 15_000): Promise<void> {
  const waiting = () =>
    page
      .evaluate(() => {
        const buttons = [...document.querySelectorAll("[data-waiting]")];
        const isBelow = (button: Element) => button.getBoundingClientRect().top > innerHeight;
        if (buttons.length > 0 && buttons.every(isBelow)) dispatchEvent(new Event("pointermove"));
        return buttons.length;
      })
      // The page navigates.
      .catch(() => 1);
  await expect.poll(waiting, { timeout }).toBe(0);
}

/** Opens an address whose scripts arrive only when the returned function is called. */
export async function gotoWithoutScripts(page: Page, url: string): Promise<() => void> {
  const released = Promise.withResolvers<void>();
  scriptless.add(page);
  await page.route(/\/assets\/.*\.js$/, async (route) => {
    await released.promise;
    await route.continue();
  });
  await page.goto(url, { waitUntil: "commit" });
  return () => {
    scriptless.delete(page);
    released.resolve();
  };
}

/** Advances the clock of a page with `page.clock` until the locator appears: failed queries are retried for seconds. */
export async function passTimeUntil(page: Page, shown: Locator): Promise<void> {
  const look = async () => {
    await page.clock.runFor(500);
    return await shown.count();
  };
  await expect.poll(look, { timeout: 30_000 }).toBeGreaterThan(0);
}

/** Gives the browser the session that the member has already. */
export async function signIn(context: BrowserContext, url: string, { visitor }: Member): Promise<void> {
  const cookie = visitor.sessionCookie();
  if (!cookie) throw new Error("The visitor isn't signed in.");
  await context.addCookies([{ ...cookie, url, httpOnly: true, sameSite: "Lax" }]);
}

const phone = 360;
const desktop = 1280;
/** Rules that depend on the width: the others run at one width only, since axe takes most of the time. */
const widthRules = [
  "target-size",
  "scrollable-region-focusable",
  "button-name",
  "link-name",
  "label",
  "aria-hidden-focus",
];

/** Rules that depend on the theme: on its colors, and on its pictures. */
const themeRules = ["color-contrast", "link-in-text-block", "image-alt", "svg-img-alt", "role-img-alt"];

/** Screens that were checked in this worker. */
const checked = new Set<string>();
let routes: Promise<readonly string[]> | undefined;

/** The route of an address, such as `/$orgSlug/servers`, or the address where there is none. */
async function routeOf(pathname: string): Promise<string> {
  const parts = pathname.split("/");
  const matches = (route: string) =>
    route.split("/").length === parts.length &&
    route.split("/").every((part, at) => part === parts[at] || part.startsWith("$"));
  routes ??= pageRoutes();
  // Those with fewer parameters come first.
  const found = (await routes).filter(matches).toSorted((a, b) => a.split("$").length - b.split("$").length);
  return found[0] ?? pathname;
}

/** Everything that generated names have. */
const generated = /[\w-]*\d[\w-]*/g;

/**
 * Whether to check this screen in its theme and width. `./towpath test thorough` checks it in each test, a usual run once:
 * a screen is a page, whoever's it is, with the same headings and as many forms and tables.
 */
async function needsCheck(page: Page, how: string): Promise<boolean> {
  const { pathname } = new URL(page.url());
  const { headings, ...shown } = await page.evaluate(() => ({
    theme: document.documentElement.dataset.theme,
    headings: [...document.querySelectorAll("h1, h2, h3")].map(({ textContent }) => textContent),
    parts: document.querySelectorAll("form, table").length,
  }));
  const titles = headings.map((text) => text.replaceAll(generated, ""));
  const key = JSON.stringify([how, await routeOf(pathname), page.viewportSize()?.width, titles, shown]);
  const isNew = !checked.has(key);
  checked.add(key);
  return isNew || isThorough;
}

/**
 * UI-5: axe finds no violation of WCAG 2.2 AA at the page's width, or else on a desktop, and nothing overflows
 * horizontally on a phone or desktop. `./towpath test thorough` runs axe at the other width, too.
 */
export async function expectAccessible(page: Page): Promise<void> {
  // Some components get their accessible names only with the script.
  if (await page.evaluate(() => document.querySelector("script[type=module]") !== null)) await untilHydrated(page);
  // The same size as after a check.
  if (!(await needsCheck(page, "one theme"))) return page.setViewportSize({ width: desktop, height: 800 });
  const main = page.viewportSize()?.width === phone ? phone : desktop;
  for (const width of [phone, desktop]) {
    await page.setViewportSize({ width, height: 800 });
    if (width === main || isThorough) {
      const violations = await violationsOf(page, width === main ? undefined : widthRules);
      expect([page.url(), width, violations]).toEqual([page.url(), width, []]);
    }
    // Charts adapt to the new width a moment later.
    await expect.poll(async () => [page.url(), width, await overflowOf(page)]).toEqual([page.url(), width, 0]);
  }
}

/** The same in the light theme, and then in the dark one with the rules that depend on it. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await showIn(page, "light");
  await expectAccessible(page);
  if (!(await needsCheck(page, "both themes"))) return;
  await showIn(page, "dark");
  expect([page.url(), "dark", await violationsOf(page, themeRules)]).toEqual([page.url(), "dark", []]);
}

/** Switches the theme and waits until the page has it, with all its colors. */
export async function showIn(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
  // Where parent and child both change slowly, the child's color follows in steps, each a transition of its own.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(({ playState, effect }) => playState === "finished" || effect?.getComputedTiming().endTime === Infinity),
  );
}

/** Violations that axe finds, by all rules or only these, each with its first element and the reason. */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<unknown[]> {
  // Colors of a dialog that is still opening don't count.
  await page.evaluate(() => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    return Promise.allSettled(ending.map(({ finished }) => finished));
  });
  // Half a megabyte of script: it is loaded once for all looks at a page.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (values) => {
      const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
      return axe.run({ resultTypes: ["violations"], ...(values ? { runOnly: { type: "rule", values } } : {}) });
    },
    rules ? [...rules] : undefined,
  );
  return violations.map(({ id, nodes }) => [id, nodes[0]?.target, nodes[0]?.failureSummary]);
}

/** By how many pixels the page is wider than the screen. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
