import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import type { BrowserContext, Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { launchChromium } from "../../../tests/chromium.ts";
import { isThorough } from "../../../tests/thorough.ts";
import { newPage, openBrowser, signIn, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// Menus, lists and dialogs, whose code is loaded just before they open.

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let page: Page;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  const ctx = testContext(site.db, { kind: "user", userId: owner.userId, ipAddress: null });
  const orgSlug = owner.organization.slug;
  await createApiKey({ ctx, input: { orgSlug, kind: "organization", name: "CI" } });
});

beforeEach(async () => {
  // A cache of its own, and the motion that most people see.
  const context = await browser.newContext({ reducedMotion: "no-preference" });
  await signIn(context, site.url, owner);
  page = await newPage(context);
  return () => context.close();
});

const open = async (path: string) => {
  await page.goto(`${site.url}/${owner.organization.slug}/${path}`);
  await untilHydrated(page);
};
const button = () => page.getByRole("button", { name: "Actions for CI", includeHidden: true });
const item = (name: string) => page.getByRole("menuitem", { name });
const dialog = () => page.getByRole("dialog");
const hasFocus = (element: Element) => element.contains(document.activeElement);

test.runIf(isThorough)(
  "UI-4 a dialog that a menu opens has the focus, and keeps its text until it has faded",
  async () => {
    await open("settings/api-keys");
    await button().focus();
    await page.keyboard.press("Enter");
    await item("Delete").press("Enter");
    await item("Delete").waitFor({ state: "detached" });
    await expect.poll(() => dialog().evaluate(hasFocus)).toBe(true);

    await page.addStyleTag({ content: "[role=dialog] { transition-duration: 5s !important }" });
    await dialog().getByRole("button", { name: "Cancel" }).press("Enter");
    const fading = page.locator("[role=dialog][data-ending-style]");
    await fading.waitFor();
    expect(await fading.textContent()).toMatch(/Delete key "CI"\?.*You can't undo this.*CancelDelete key/);
    await expect.poll(() => button().evaluate(hasFocus)).toBe(true);
  },
);

test("UI-4 a press outside an open list leaves the focus in the field that was pressed", async () => {
  await open("welcome/server-setup");
  await page.getByRole("button", { name: "Switch organization" }).click();
  await dialog().getByRole("combobox").waitFor();
  const field = page.getByRole("textbox", { name: "Server name" });
  await field.click();
  await dialog().waitFor({ state: "detached" });
  expect(await field.evaluate(hasFocus)).toBe(true);
});

test("UI-4 one press opens a popup that loads late, and a failed load is reported and opens by the next press", async () => {
  await open("settings/api-keys");
  const arrived = Promise.withResolvers<void>();
  let asked = 0;
  await page.route(/assets\/menu-popup-.*\.js/, async (route) => {
    asked += 1;
    if (asked === 1) return route.abort();
    await arrived.promise;
    await route.continue();
  });
  await button().click();
  await page.getByText("This part of the page couldn't be loaded.").waitFor();
  await expect.poll(() => button().getAttribute("aria-expanded")).toBe("false");
  await button().press("Enter");
  await expect.poll(() => asked).toBe(2);
  await expect.poll(() => item("Delete").count()).toBe(0);
  arrived.resolve();
  await item("Delete").waitFor();
  await expect.poll(() => page.getByRole("menu").evaluate(hasFocus)).toBe(true);
});

test.runIf(isThorough)(
  "UI-4 a dialog leaves the page where it is, and shades it up to the edge, scroll bar included",
  async () => {
    // Contexts of the shared browser have no scroll bars.
    const own = await launchChromium({ ignoreDefaultArgs: ["--hide-scrollbars"] });
    try {
      for (const colorScheme of ["light", "dark"] as const) {
        const context = await own.newContext({ viewport: { width: 1280, height: 400 }, colorScheme });
        await signIn(context, site.url, owner);
        page = await newPage(context);
        await open("settings/api-keys");
        const left = () => page.locator("h1").evaluate((title) => title.getBoundingClientRect().x);
        const width = () => page.evaluate(() => document.documentElement.clientWidth);
        const before = await left();
        expect(await width()).toBeLessThan(1280);
        await page.keyboard.press("Shift+?");
        await dialog().waitFor();
        expect(await left()).toBe(before);
        // Beside the scroll bar's place, and in it: as dark as the page.
        const shades = async () => {
          const strip = await page.screenshot({ clip: { x: 1250, y: 200, width: 28, height: 1 } });
          return await brightness(context, strip.toString("base64"));
        };
        await expect.poll(async () => spread(await shades())).toBeLessThanOrEqual(2);
        await context.close();
      }
    } finally {
      await own.close();
    }
  },
);

const spread = (values: readonly number[]) => Math.max(...values) - Math.min(...values);

/** The green of each pixel of a picture, by a page that may read pictures. */
async function brightness(context: BrowserContext, png: string): Promise<readonly number[]> {
  const reader = await context.newPage();
  const values = await reader.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    canvas?.drawImage(picture, 0, 0);
    const pixels = canvas?.getImageData(0, 0, picture.width, picture.height).data ?? [];
    return [...pixels].filter((_, at) => at % 4 === 1);
  }, png);
  await reader.close();
  return values;
}
