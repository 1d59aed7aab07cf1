import { newId } from "@towpath/core/ids";
import { seedLiveProject, seedOrganization, seedProject } from "@towpath/core/testing";
import { branch, member, project, route } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Locator, Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, gotoWithoutScripts, openBrowser, passTimeUntil, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
const desktop = { width: 1280, height: 800 };
let owner: Member;
let page: Page;
let org: string;
let other: string;
let previewId: string;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  org = `/${owner.organization.slug}`;
  const weather = await seedProject(site.db, owner.organization, { name: "weather-service" });
  await seedProject(site.db, owner.organization, { name: "invoice-search", description: "Old" });
  previewId = newId();
  await site.db.insert(branch).values({ id: previewId, projectId: weather.id, name: "faster-answers" });
  const second = await seedOrganization(site.db);
  other = second.slug;
  const membership = { id: newId(), organizationId: second.id, userId: owner.userId, role: "owner" };
  await site.db.insert(member).values(membership);
  page = await browser.signedInPage(site.url, owner);
});

beforeEach(async () => {
  await page.setViewportSize(desktop);
});

const open = async (path: string) => {
  await page.goto(site.url + path);
  await untilHydrated(page);
};
const path = () => new URL(page.url()).pathname;
const chooser = () => page.getByRole("dialog");
const palette = () => page.getByRole("dialog", { name: "Command palette" });
const choose = async (dialog: Locator, text: string) => {
  await dialog.getByRole("combobox").fill(text);
  await dialog.getByRole("option").first().waitFor();
  await page.keyboard.press("Enter");
};

test("UI-4 one bar of 64 px: organization, server and branch, search and Connect; the sidebar's left edge is the logo's", async () => {
  await open(`${org}/weather-service/logs`);
  const bar = page.getByRole("banner");
  await expect.poll(async () => (await bar.boundingBox())?.height).toBeGreaterThanOrEqual(64);
  await expect.poll(async () => (await bar.boundingBox())?.height).toBeLessThanOrEqual(65);
  for (const name of ["Switch organization", "Switch server", "Switch branch", "Search or jump to", "Connect"])
    await bar.getByRole("button", { name }).waitFor();
  const logo = await bar.getByRole("link", { name: "Towpath, your servers" }).boundingBox();
  const icon = await page.getByRole("link", { name: "Logs", exact: true }).locator("svg").boundingBox();
  expect(Math.round(icon?.x ?? 0)).toBe(Math.round(logo?.x ?? -1));
  await expectAccessible(page);
});

test.runIf(isThorough)(
  "UI-4 one heading of 24 px at the same left edge on the pages of a project and of the organization",
  async () => {
    const pages = ["servers", "settings/api-keys", "settings/instance", "weather-service/deployments"];
    const seen: unknown[] = [];
    for (const each of [...pages, "weather-service/logs", "weather-service/settings", "weather-service/limits"]) {
      await open(`${org}/${each}`);
      const heading = page.getByRole("heading", { level: 1 });
      const left = Math.round((await heading.boundingBox())?.x ?? -1);
      seen.push([each, left, await heading.evaluate((element) => getComputedStyle(element).fontSize)]);
      await expect.poll(() => page.locator("main").count()).toBe(1);
    }
    const [[, left] = []] = seen as [string, number, string][];
    expect(seen).toEqual(seen.map((row) => [(row as string[])[0], left, "24px"]));
  },
);

test.runIf(isThorough)("UI-4 on an open page the bar shows that the server has gone live", async () => {
  const { name } = await seedLiveProject(site.db, owner.organization, { name: "first-build" });
  const [live] = await site.db.delete(route).where(eq(route.label, name)).returning();
  if (!live) throw new Error("The server isn't live.");
  const waiting = await browser.signedInPage(site.url, owner);
  await waiting.clock.install();
  await waiting.goto(`${site.url}${org}/${name}/surface`);
  const shown = (state: string) => waiting.getByRole("button", { name: `${name} , ${state}` });
  await shown("Not live yet").waitFor();
  await site.db.insert(route).values(live);
  await passTimeUntil(waiting, shown("Live"));
  await waiting.context().close();
});

test("UI-4 by keyboard alone: the server switcher finds another server and opens the same screen of it", async () => {
  await open(`${org}/weather-service/logs`);
  const button = page.getByRole("button", { name: "Switch server" });
  await button.focus();
  await page.keyboard.press("Enter");
  await chooser().waitFor();
  await page.keyboard.press("Escape");
  await chooser().waitFor({ state: "detached" });
  await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press("Enter");
  await choose(chooser(), "invo");
  await page.waitForURL(`**${org}/invoice-search/logs`);
  await button.getByText("invoice-search").waitFor();
});

test("UI-4 the branch switcher opens the branch on screens that show one, and Connect is about its URL", async () => {
  await open(`${org}/weather-service/inspector`);
  await page.getByRole("button", { name: "Switch branch" }).click();
  await choose(chooser(), "faster");
  await page.waitForURL(`**${org}/weather-service/inspector?branchId=${previewId}`);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText("This preview isn't live").waitFor();
  await expectAccessible(page);
});

test("AUTH-6 the organization switcher opens the other organization's servers in a new document", async () => {
  await open(`${org}/servers`);
  await page.getByRole("button", { name: "Switch organization" }).click();
  await choose(chooser(), other);
  await page.waitForURL(`**/${other}/servers`);
  await page.getByText("No servers yet").waitFor();
  await page.getByRole("button", { name: "Switch organization" }).click();
  await choose(chooser(), owner.organization.slug);
  await page.waitForURL(`**${org}/servers`);
});

test.runIf(isThorough)(
  "UI-4 Ctrl-K opens the palette, which leads to servers, pages and actions; Escape closes it",
  async () => {
    await open(`${org}/weather-service/logs`);
    // The first key may precede the page's listener.
    await expect
      .poll(async () => {
        await page.keyboard.press("Control+k");
        return await palette().count();
      })
      .toBe(1);
    await palette().getByRole("option", { name: "Deployments" }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize(desktop);
    await page.keyboard.press("Escape");
    await palette().waitFor({ state: "detached" });

    await page.keyboard.press("Control+k");
    await choose(palette(), "deployments");
    await page.waitForURL(`**${org}/weather-service/deployments`);
    await page.keyboard.press("Control+k");
    await choose(palette(), "api keys");
    await page.waitForURL(`**${org}/settings/api-keys`);
    await page.keyboard.press("Control+k");
    await choose(palette(), "invoice");
    await page.waitForURL(`**${org}/invoice-search**`);
    await page.keyboard.press("Control+k");
    await choose(palette(), "dark theme");
    await expect.poll(() => page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    await page.keyboard.press("Control+k");
    await choose(palette(), "light theme");
    await page.keyboard.press("Control+k");
    await palette().getByRole("combobox").fill("no such thing");
    await palette().getByText("No matches. Try a server").waitFor();
    await page.keyboard.press("Escape");
  },
);

test("UI-4 / focuses the page's search, ? shows the shortcuts, and both are text while someone types", async () => {
  await open(`${org}/servers`);
  const field = page.getByRole("searchbox");
  // The first key may precede the page's listener.
  await expect
    .poll(async () => {
      await page.keyboard.press("/");
      return await field.evaluate((element) => element === document.activeElement);
    })
    .toBe(true);
  await page.keyboard.type("a/b?");
  await expect.poll(() => field.inputValue()).toBe("a/b?");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  await field.blur();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.waitFor();
  await expectAccessible(page);
  // WCAG 2.2, 2.1.4: single keys can be switched off.
  await dialog.getByRole("checkbox").click();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("?");
  await page.keyboard.press("Control+k");
  await palette().waitFor();
  await expect.poll(() => dialog.count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.evaluate("localStorage.removeItem('shortcuts')");
});

test("UI-5 at 360 px a drawer holds the sidebar and the switchers; following a link closes it", async () => {
  await page.setViewportSize({ width: 360, height: 800 });
  await open(`${org}/weather-service/logs`);
  await page.getByRole("button", { name: "Menu" }).click();
  const drawer = page.getByRole("dialog", { name: "Menu" });
  await drawer.getByRole("button", { name: "Switch organization" }).waitFor();
  await drawer.getByRole("button", { name: "Switch branch" }).waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 800 });
  await drawer.getByRole("link", { name: "Deployments" }).click();
  await page.waitForURL(`**${org}/weather-service/deployments`);
  await drawer.waitFor({ state: "detached" });
});

test("ONB-1 buttons that need the page's script can't be pressed before it, and say so; then they work", async () => {
  await page.setViewportSize(desktop);
  const runScripts = await gotoWithoutScripts(page, `${site.url}${org}/servers`);
  const button = page.getByRole("button", { name: "Switch organization" });
  await button.waitFor();
  expect(await button.isDisabled()).toBe(true);
  expect(await page.locator("button:not([type=submit]):enabled").count()).toBe(0);
  runScripts();
  await button.click();
  await chooser().waitFor();
});

test.runIf(isThorough)(
  "ONB-1 PRJ-11 PRJ-5 input entered before the page's script is kept, and saved by an early press",
  async () => {
    let runScripts = await gotoWithoutScripts(page, `${site.url}${org}/invoice-search/settings`);
    const form = page.getByRole("form", { name: "General" });
    await form.getByLabel(/^Description/).fill("Finds invoices");
    await form.getByText("Public page", { exact: true }).click();
    await page.getByRole("switch", { name: "Keep payloads" }).click();
    await page.getByRole("radio", { name: /^Always answer/ }).click();
    await form.getByRole("button", { name: "Save" }).click();
    runScripts();
    const stored = async () => (await site.db.select().from(project).where(eq(project.name, "invoice-search")))[0];
    const early = { description: "Finds invoices", isPublic: true, capturePayloads: true, sleepingLists: "always" };
    await expect.poll(stored).toMatchObject(early);
    await form.getByText("Saved").waitFor();

    runScripts = await gotoWithoutScripts(page, `${site.url}${org}/weather-service/access`);
    const box = page.getByRole("checkbox").first();
    const before = await box.isChecked();
    await box.click();
    const tools = page.getByRole("radio", { name: /^(All|Only selected) tools/ });
    await tools.last().click();
    runScripts();
    await expect.poll(() => box.isChecked()).not.toBe(before);
    await expect.poll(() => tools.last().isChecked()).toBe(true);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => tools.first().isChecked()).toBe(true);

    runScripts = await gotoWithoutScripts(page, `${site.url}${org}/settings/preferences`);
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const other = (await theme()) === "dark" ? "Light" : "Dark";
    await page.getByRole("group", { name: "Theme" }).getByLabel(other).click();
    runScripts();
    await expect.poll(theme).toBe(other.toLowerCase());
    await page.evaluate(() => localStorage.clear());

    runScripts = await gotoWithoutScripts(page, `${site.url}${org}/weather-service/logs`);
    await page.getByLabel("Filter the log").fill("status:error");
    runScripts();
    // The open list of proposals hides the other roles.
    await page.getByLabel("Clear the query").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/status=error/);
  },
);

test("UI-4 the offline banner shows at any scroll position; a page that isn't loaded says so, and opens once online", async () => {
  await open(`${org}/weather-service/settings`);
  await page.context().setOffline(true);
  const banner = page.getByText("You're offline.", { exact: true });
  await banner.waitFor();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await expect.poll(async () => (await banner.boundingBox())?.y).toBeGreaterThan(60);
  await page.getByRole("link", { name: "Clients" }).click();
  await page.getByRole("heading", { name: "You're offline" }).waitFor();
  await expect.poll(() => page.title()).toBe("You're offline · Towpath");
  await page.context().setOffline(false);
  await page.getByRole("heading", { level: 1, name: "Clients" }).waitFor();
  await banner.waitFor({ state: "detached" });
});

test.runIf(isThorough)("PRJ-11 unsaved settings are asked for before the page is left: kept or discarded", async () => {
  await open(`${org}/weather-service/settings`);
  const entrypoint = page.getByRole("textbox", { name: /^Entrypoint/ });
  await entrypoint.fill("other.py");
  await page.getByRole("link", { name: "Deployments" }).click();
  const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
  await dialog.waitFor();
  await expectAccessible(page);
  await page.setViewportSize(desktop);
  await dialog.getByRole("button", { name: "Keep editing" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect
    .poll(async () => [path(), await entrypoint.inputValue()])
    .toEqual([`${org}/weather-service/settings`, "other.py"]);
  await page.getByRole("link", { name: "Deployments" }).click();
  await dialog.getByRole("button", { name: "Discard changes" }).click();
  await page.waitForURL(`**${org}/weather-service/deployments`);
});

test.runIf(isThorough)(
  "PRJ-11 ORG-4 without changes nothing is asked; limits, access and the organization's settings ask too",
  async () => {
    const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
    await open(`${org}/weather-service/limits`);
    await page.getByRole("link", { name: "Access", exact: true }).click();
    await page.waitForURL(`**/access`);
    await page.getByRole("checkbox").first().click();
    await page.getByRole("link", { name: "Limits" }).click();
    await dialog.getByRole("button", { name: "Discard changes" }).click();
    await page.waitForURL(`**/limits`);
    await page.getByRole("radio").nth(1).click();
    await page.getByRole("link", { name: "Access", exact: true }).click();
    await dialog.getByRole("button", { name: "Discard changes" }).click();
    await page.waitForURL(`**/access`);
    await open(`${org}/settings/general`);
    await page.getByLabel("Name", { exact: true }).fill("Another name");
    await page.getByRole("link", { name: "API keys" }).click();
    await dialog.getByRole("button", { name: "Discard changes" }).click();
    await page.waitForURL(`**/settings/api-keys`);
  },
);
