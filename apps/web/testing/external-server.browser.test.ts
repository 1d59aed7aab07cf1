import { externalServer, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { openServerElsewhere } from "./server-elsewhere.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
const elsewhere = openServerElsewhere();
let page: Page;
let owner: Member;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});
beforeEach(() => {
  elsewhere.token = null;
  elsewhere.isDown = false;
});

const orgUrl = () => `${site.url}/${owner.organization.slug}`;
const rows = () => site.db.select().from(project).where(eq(project.organizationId, owner.organization.id));
const add = () => page.getByRole("button", { name: "Add server" }).click();

/** Themes and widths of the page that is open. */
const expectGood = () => expectAccessibleInBothThemes(page);

test("ORG-9 a server is added by its URL, by keyboard: problems are shown at the field that cures them", async () => {
  elsewhere.token = "token-123456";
  await page.goto(`${orgUrl()}/servers`);
  await page.getByRole("link", { name: "External server" }).click();
  await page.getByRole("heading", { name: "Add an external server" }).waitFor();
  await expectGood();
  const url = page.getByRole("textbox", { name: "URL" });
  await url.fill("https://10.0.0.1/mcp");
  await page.keyboard.press("Enter");
  await page.getByText("10.0.0.1 is not a host on the public internet.").waitFor();
  await page.getByText("Reach the server: failed").waitFor();
  await expectGood();
  await url.fill(elsewhere.url);
  await page.keyboard.press("Enter");
  await page.getByText("The server asks for a credential (HTTP 401).").waitFor();
  await page.getByText("Ask it what it offers: failed").waitFor();
  await expect.poll(() => rows()).toEqual([]);
  await page.getByRole("combobox", { name: "Credential" }).click();
  await page.getByRole("option", { name: "Bearer token" }).click();
  await page.getByLabel("Token").fill(elsewhere.token);
  await page.getByLabel("Server name").fill("weather-elsewhere");
  await add();
  await page.waitForURL(/\/weather-elsewhere\/inspector/);
  await page.getByText("weather 2.1.0").waitFor();
  await page
    .getByRole("option", { name: /forecast/ })
    .first()
    .waitFor();
  const [stored] = await rows();
  expect(stored).toMatchObject({ kind: "external", name: "weather-elsewhere", authMode: "towpath-cloud" });
});

test.runIf(isThorough)(
  "ORG-9 it is listed beside hosted servers with a mark, and has the screens that make sense for it",
  async () => {
    await page.goto(`${orgUrl()}/servers`);
    const row = page.getByRole("row", { name: /weather-elsewhere/ });
    await row.getByText("External").waitFor();
    await row.getByText("Live").waitFor();
    await expectGood();
    await row.getByRole("link", { name: "weather-elsewhere" }).click();
    await page.waitForURL(/\/weather-elsewhere$/);
    const sidebar = page.getByRole("navigation", { name: "Screens of weather-elsewhere" });
    for (const name of ["Overview", "Try it", "Logs", "Settings"])
      await sidebar.getByRole("link", { name, exact: true }).waitFor({ state: "attached" });
    await expect.poll(() => sidebar.getByRole("link", { name: "Deployments" }).count()).toBe(0);
    for (const [entry, ...tabs] of [
      ["Try it", "Inspector", "Surface"],
      ["Logs", "Calls", "Sessions", "Users"],
      ["Settings", "General", "Access", "Limits", "Clients"],
    ] as const) {
      await sidebar.getByRole("link", { name: entry, exact: true }).click();
      const shown = page.getByRole("navigation", { name: entry, exact: true });
      for (const name of tabs) await shown.getByRole("link", { name, exact: true }).waitFor();
    }
    await page.goto(`${orgUrl()}/weather-elsewhere/deployments`);
    await page.waitForURL(/\/inspector/);
    await page.goto(`${orgUrl()}/weather-elsewhere/tools/forecast`);
    await page.waitForURL(/\/surface\/tool\/forecast/);
    await page.getByText("Answers with the forecast of a place.").waitFor();
    await page.goto(`${orgUrl()}/weather-elsewhere/access`);
    await page.getByRole("radio", { name: /^Only/ }).last().click();
    await page.getByText("radar").first().waitFor();
    await page.goto(`${orgUrl()}/weather-elsewhere/logs`);
    await page.getByText("Call a tool in the inspector").waitFor();
  },
);

test.runIf(isThorough)(
  "ORG-9 settings: checked on demand, moved, its credential replaced but never shown; hosted settings are gone",
  async () => {
    elsewhere.token = "token-123456";
    await page.goto(`${orgUrl()}/weather-elsewhere/settings`);
    await page.getByRole("heading", { name: "Address", exact: true }).waitFor();
    await expect
      .poll(() => page.getByRole("heading", { name: /^(Build|Environment variables|Sleeping)/ }).count())
      .toBe(0);
    await expect.poll(() => page.content()).not.toContain("token-123456");
    await expectGood();
    elsewhere.isDown = true;
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText("The last check failed").waitFor();
    await page.getByText("Its tools stay listed as they were.").waitFor();
    await expectGood();
    elsewhere.isDown = false;
    elsewhere.token = "token-of-tomorrow";
    await page.getByRole("button", { name: "Replace or remove" }).click();
    await page.getByLabel("Token").fill("token-of-tomorrow");
    await page.getByRole("form", { name: "Address" }).getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. It applies from now on.").waitFor();
    await expect.poll(() => page.getByText("The last check failed").count(), { timeout: 15_000 }).toBe(0);
    const [server] = await rows();
    const [stored] = await site.db
      .select()
      .from(externalServer)
      .where(eq(externalServer.projectId, server?.id ?? ""));
    expect(stored).toMatchObject({
      credentialHeader: "authorization",
      credentialVersion: 2,
      problem: null,
      revision: 2,
    });
    await page.goto(`${orgUrl()}/weather-elsewhere/access`);
    const callers = page.getByRole("form", { name: "Callers" });
    await expect.poll(() => callers.getByRole("radio").count()).toBe(2);
    await callers.getByRole("radio", { name: /^Open to anyone/ }).click();
    await callers.getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await rows())[0]?.authMode, { timeout: 15_000 }).toBe("towpath-public");
  },
);
