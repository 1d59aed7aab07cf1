import { seedProject } from "@towpath/core/testing";
import { callerValue, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let member: Member;
let own: Awaited<ReturnType<typeof seedProject>>;

beforeAll(async () => {
  member = await seededMember(site.url, site.db);
  own = await seedProject(site.db, member.organization);
  page = await browser.signedInPage(site.url, member);
});

const token = "a token of my own";

test("CAP-1 an owner makes a variable per caller, and says how many callers are served at a time", async () => {
  await page.goto(`${site.url}/${member.organization.slug}/${own.name}/settings`);
  await page.getByLabel("Name of variable 1", { exact: true }).fill("API_TOKEN");
  await page.getByLabel("Value of API_TOKEN", { exact: true }).fill("for builds");
  await page.getByLabel("Description").last().fill("From your profile page.");
  await page.getByRole("checkbox", { name: /^Per caller/ }).check();
  await page.getByRole("button", { name: "Save variables" }).click();
  await page.getByRole("row").filter({ hasText: "API_TOKEN" }).getByText("Per caller").waitFor();
  await page.getByRole("combobox", { name: /^Callers with values of their own/ }).click();
  await page.getByRole("option", { name: "50", exact: true }).click();
  const stored = async () => (await site.db.select().from(project).where(eq(project.id, own.id)))[0]?.callerInstances;
  await expect.poll(stored, { timeout: 15_000 }).toBe(50);
  await expectAccessible(page);
});

test("CAP-1 the address in a server's refusal leads to the form; a value is saved, never shown, and deleted", async () => {
  await page.goto(`${site.url}/my-values/${own.id}`);
  await page.waitForURL(`${site.url}/${member.organization.slug}/settings/my-values#${own.id}`);
  const card = page.locator(`[id="${own.id}"]`);
  await card.getByText("Needs a value").waitFor();
  await card.getByText("From your profile page.").waitFor();
  await card.getByRole("button", { name: "Save" }).click();
  await card.getByText("Enter a value first.").waitFor();
  await card.getByLabel("Value of API_TOKEN", { exact: true }).fill(token);
  await card.getByRole("button", { name: "Save" }).click();
  await card.getByText("Ready for your calls").waitFor();
  expect(await card.getByLabel("Value of API_TOKEN", { exact: true }).inputValue()).toBe("");
  await page.reload();
  await card.getByText("Ready for your calls").waitFor();
  expect(await page.content()).not.toContain(token);
  await expectAccessible(page);
  await card.getByRole("button", { name: "Delete API_TOKEN" }).click();
  await page.getByRole("button", { name: "Delete value" }).click();
  await card.getByText("Needs a value").waitFor();
  expect(await site.db.$count(callerValue, eq(callerValue.projectId, own.id))).toBe(0);
});

test.runIf(isThorough)(
  "CAP-1 an owner names the tool call that checks values, and a person learns that theirs is saved but not checked",
  async () => {
    await page.goto(`${site.url}/${member.organization.slug}/${own.name}/settings`);
    const form = page.getByRole("form", { name: "Check of callers' values" });
    await form.getByLabel("Tool that checks a caller's values").fill("whoami");
    await form.getByLabel("Its arguments").fill("[1]");
    await form.getByText("Enter a JSON object").waitFor();
    await form.getByLabel("Its arguments").fill('{"limit": 1}');
    await form.getByRole("button", { name: "Save check" }).click();
    const stored = async () => (await site.db.select().from(project).where(eq(project.id, own.id)))[0]?.callerProbe;
    await expect.poll(stored, { timeout: 15_000 }).toEqual({ tool: "whoami", arguments: { limit: 1 } });
    await expectAccessible(page);
    await page.goto(`${site.url}/${member.organization.slug}/settings/my-values`);
    const card = page.locator(`[id="${own.id}"]`);
    await card.getByLabel("Value of API_TOKEN", { exact: true }).fill(token);
    await card.getByRole("button", { name: "Save" }).click();
    await card.getByText("Saved, but not checked").waitFor();
    await card.getByText("Nothing of the server is live").waitFor();
    expect(await page.content()).not.toContain(token);
  },
);

test.runIf(isThorough)("CAP-1 without such servers, the page says what it is for", async () => {
  const other = await seededMember(site.url, site.db);
  const fresh = await browser.signedInPage(site.url, other);
  await fresh.goto(`${site.url}/${other.organization.slug}/settings/my-values`);
  await fresh.getByText("No server asks for a value of yours").waitFor();
  await expectAccessible(fresh);
  await fresh.context().close();
});
