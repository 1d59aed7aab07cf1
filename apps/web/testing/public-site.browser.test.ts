import { sampleManifest, seedLiveProject, seedOrganization } from "@towpath/core/testing";
import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, expectAccessibleInBothThemes, newPage, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;

beforeEach(async () => {
  await page?.context().close();
  page = await newPage(await browser.newContext({ viewport: { width: 1600, height: 900 } }));
});

test("PUB-1 the top bar is 64 px high, its content at most 1280 px wide, and all of it is in sight", async () => {
  for (const path of ["/", "/docs"]) {
    await page.goto(site.url + path);
    const bar = page.getByRole("banner");
    const box = await bar.boundingBox();
    // A line of one pixel is below it.
    expect([path, box?.y, box?.height]).toEqual([path, 0, 65]);
    const content = await bar.locator("> div").boundingBox();
    expect([path, content?.height, content?.width]).toEqual([path, 64, 1280]);
    for (const name of ["Towpath home", "17k+ stars on GitHub", "Blog", "Docs", "Pricing", "Sign in", "Sign up"])
      expect([path, name, await bar.getByRole("link", { name }).isVisible()]).toEqual([path, name, true]);
  }
});

test("PUB-2 on a phone a drawer has the same entries, with sign-up labelled Get started for free", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(site.url);
  await page.getByRole("button", { name: "Menu" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.waitFor();
  for (const name of ["17k+ stars on GitHub", "Blog", "Docs", "Pricing", "Sign in", "Get started for free"]) {
    await expect.poll(async () => [name, await drawer.getByRole("link", { name }).isVisible()]).toEqual([name, true]);
  }
  await expect
    .poll(() => drawer.getByRole("link", { name: "Get started for free" }).getAttribute("href"))
    .toBe("/signup");
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "hidden" });
});

/** The page with the most kinds of contents. `./towpath test thorough` looks at the others in the dark, too. */
const inBothThemes = "/blog/context-economy";

test("UI-4 UI-5 the public pages are accessible and fit the screen, in both themes", async () => {
  for (const path of [
    "/",
    "/pricing",
    "/blog",
    "/blog/context-economy",
    "/blog/no-such-post",
    "/docs",
    "/docs/troubleshooting",
    // Of the same kinds as others.
    ...(isThorough ? ["/blog/oauth-proxy-dynamic-registration", "/docs/roles"] : []),
    "/docs/search?q=sign+in",
    "/provider/problem?error=account_not_linked",
    "/new/github-install-success",
  ]) {
    await page.goto(site.url + path);
    await (isThorough || path === inBothThemes ? expectAccessibleInBothThemes : expectAccessible)(page);
  }
});

test("OPS-7 / goes to the search of the documentation, code is copied, and a phone has all pages", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${site.url}/docs`);
  const code = await page.locator(".prose .code pre").first().boundingBox();
  const copy = page.getByRole("button", { name: "Copy" }).first();
  // Beside the command, not over its end.
  expect((await copy.boundingBox())?.x).toBeGreaterThanOrEqual((code?.x ?? 0) + (code?.width ?? Infinity));
  await copy.click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("./towpath up");
  await page.keyboard.press("/");
  await page.keyboard.type("api key");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Results for “api key”" }).waitFor();
  await page
    .getByRole("link", { name: /^API keys/ })
    .first()
    .click();
  await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByText("All pages", { exact: true }).click();
  await page.getByRole("navigation", { name: "All pages" }).getByRole("link", { name: "Retention" }).click();
  await page.getByRole("heading", { level: 1, name: "Retention" }).waitFor();
});

test("OPS-7 UI-2 of a picture's two themes, a page shows and loads its own, in its size", async () => {
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(`${site.url}/docs/logs`);
  const figure = page.locator("figure.picture").first();
  const pictures = () =>
    figure.locator("img").evaluateAll((images: HTMLImageElement[]) =>
      images.map((image) => ({
        isShown: image.checkVisibility(),
        isWide: image.naturalWidth === Number(image.getAttribute("width")),
        isHigh: image.naturalHeight === Number(image.getAttribute("height")),
      })),
    );
  const [shown, hidden] = [
    { isShown: true, isWide: true, isHigh: true },
    { isShown: false, isWide: false, isHigh: false },
  ];
  await figure.scrollIntoViewIfNeeded();
  await expect.poll(pictures).toEqual([shown, hidden]);
  await page.getByRole("radio", { name: "Dark" }).check();
  await expect.poll(pictures).toEqual([{ ...shown, isShown: false }, shown]);
});

test("PUB-4 UI-2 the tour shows one screen at a time, chosen by arrow keys without a script, in the theme and for the width", async () => {
  const shownOn = (visited: Page) =>
    visited
      .locator("figure.picture img")
      .evaluateAll((images: HTMLImageElement[]) =>
        images.filter((image) => image.checkVisibility() && image.complete).map((image) => image.currentSrc),
      );
  for (const { width, suffix, javaScriptEnabled } of [
    { width: 1440, suffix: "", javaScriptEnabled: true },
    { width: 360, suffix: "-phone", javaScriptEnabled: false },
  ]) {
    const context = await browser.newContext({ javaScriptEnabled, colorScheme: "light" });
    const visited = await newPage(context);
    const loaded = new Set<string>();
    visited.on("request", (request) => {
      const name = /pictures\/([a-z-]+)\.webp/.exec(request.url())?.[1];
      if (name) loaded.add(name);
    });
    await visited.setViewportSize({ width, height: 800 });
    await visited.goto(site.url);
    await visited.getByRole("radio", { name: "Push" }).focus();
    const shown = () => shownOn(visited);
    await expect.poll(shown).toEqual([expect.stringContaining(`/previews${suffix}-light.webp`)]);
    const titles = () =>
      visited.getByRole("radio").evaluateAll((radios) => radios.map((radio) => radio.getBoundingClientRect().top));
    const before = await titles();
    await visited.keyboard.press("ArrowDown");
    // What somebody chooses among stays where it is.
    expect(await titles()).toEqual(before);
    await expect.poll(shown).toEqual([expect.stringContaining(`/failed-build${suffix}-light.webp`)]);
    expect(await visited.getByRole("radio", { name: "Build" }).isChecked()).toBe(true);
    // Browsers load all lazy pictures at once where scripts are off, because loading them late shows how far somebody scrolls.
    if (javaScriptEnabled) expect(loaded).toEqual(new Set(["previews-light", "failed-build-light"]));
    await context.close();
  }
});

test("UI-2 the public site's theme switch works without the app, and keeps the choice", async () => {
  await page.goto(`${site.url}/pricing`);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await page.getByRole("radio", { name: "Dark" }).check();
  await expect.poll(() => theme()).toBe("dark");
  await page.goto(`${site.url}/blog`);
  await expect
    .poll(async () => [await theme(), await page.getByRole("radio", { name: "Dark" }).isChecked()])
    .toEqual(["dark", true]);
});

test("PUB-4 the landing page takes at most 150 kB in at most 25 requests", async () => {
  const sizes: number[] = [];
  page.on("requestfinished", async (request) => {
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    sizes.push(responseBodySize + responseHeadersSize);
  });
  await page.goto(site.url, { waitUntil: "networkidle" });
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.waitForLoadState("networkidle");
  expect(Math.max(sizes.length, 25)).toBe(25);
  expect(sizes.length).toBeGreaterThan(2);
  const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1000;
  expect(Math.max(kilobytes, 150)).toBe(150);
});

test("PUB-10 a public project's page shows arguments on demand, copies the URL, and is accessible", async () => {
  const project = { name: "lock-keeper", isPublic: true, authMode: "towpath-public" };
  await seedLiveProject(site.db, await seedOrganization(site.db), project, { manifest: sampleManifest() });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${site.url}/app/lock-keeper`);
  await expect.poll(() => page.getByText("required", { exact: true }).isVisible()).toBe(false);
  await page.getByText("1 argument").focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByText("required", { exact: true }).isVisible()).toBe(true);
  await page.getByRole("button", { name: "Copy URL" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toBe("http://localhost:8080/lock-keeper/mcp");
  await expectAccessibleInBothThemes(page);
});

test("PUB-3 for a signed-in user a public page comes with the app, whose menus work", async () => {
  const member = await seededMember(site.url, site.db);
  const own = await browser.signedInPage(site.url, member);
  const problems: string[] = [];
  own.on("pageerror", ({ message }) => problems.push(message));
  await own.goto(`${site.url}/blog/context-economy`);
  await own.getByRole("button", { name: /account of Ada Lovelace/ }).click();
  await own.getByRole("menuitem", { name: "Sign out" }).waitFor();
  await own.keyboard.press("Escape");
  await own.getByRole("menu").waitFor({ state: "hidden" });
  expect(problems).toEqual([]);
  await expectAccessible(own);
  await own.context().close();
});

test("UI-2 without a stored choice the page follows the system's theme", async () => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(site.url);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await expect.poll(() => theme()).toBe("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(theme).toBe("light");
});

test("AUTH-2 sign-up works without scripts", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await plain.goto(`${site.url}/signup`);
  await plain.getByLabel("First name").fill("Ada");
  await plain.getByRole("button", { name: "Create account" }).click();
  await plain.getByText("Last name is required").waitFor();
  await expect.poll(() => plain.getByLabel("First name").inputValue()).toBe("Ada");
  await plain.getByLabel("Last name").fill("Lovelace");
  await plain.getByLabel("Email").fill("noscript@example.com");
  await plain.getByLabel("Password").fill("long enough for this");
  await plain.getByRole("button", { name: "Create account" }).click();
  await plain.waitForURL("**/welcome/create-organization");
  await context.close();
});
