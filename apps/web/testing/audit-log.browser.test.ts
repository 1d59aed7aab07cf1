import { newId } from "@towpath/core/ids";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { seedProject, testContext } from "@towpath/core/testing";
import { auditLog, member, organization } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let page: Page;
let server: { readonly name: string };

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
  server = await seedProject(site.db, owner.organization, { name: "slow-grey-heron" });
});

const screen = (path: string) => `${site.url}/${owner.organization.slug}/settings/${path}`;
const rows = () => page.getByRole("table", { name: "Audit log" }).getByRole("row");

test("ORG-10 the audit log shows who did what, when and from where, filters it, and loads older entries", async () => {
  const { organization: org, userId } = owner;
  await page.goto(screen("audit-log"));
  await page.getByText("No changes yet").waitFor();
  const ctx = testContext(site.db, { kind: "user", userId, ipAddress: "192.0.2.77" });
  await createApiKey({ ctx, input: { orgSlug: org.slug, kind: "organization", name: "CI" } });
  const old = Array.from({ length: 60 }, (_, at) => ({
    id: newId(),
    organizationId: org.id,
    actor: "operator",
    action: "project.update",
    subject: server.name,
    createdAt: new Date(Date.now() - (at + 1) * 86_400_000),
  }));
  await site.db.insert(auditLog).values(old);
  await page.reload();
  const newest = rows().filter({ hasText: "created the organization API key CI" });
  await newest.getByText("192.0.2.77").waitFor();
  await newest.getByText("Ada Lovelace").waitFor();
  await newest.getByText("Details").press("Enter");
  await newest.getByText("apiKey.create").waitFor();
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(() => rows().count()).toBe(51);
  await page.getByRole("button", { name: "Show older" }).click();
  await expect.poll(() => rows().count()).toBe(62);
  const link = rows().getByRole("link").first();
  expect(await link.evaluate((each) => getComputedStyle(each).textDecorationLine)).toBe("underline");
  await page.getByLabel("Kind of change").click();
  await page.getByRole("option", { name: "API keys and tokens" }).click();
  await expect.poll(() => rows().count()).toBe(2);
  await expect.poll(() => page.url()).toContain("group=keys");
  await page.getByLabel("Person").click();
  await page.getByRole("option", { name: "Operator" }).click();
  await page.getByText("No matching entries").waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await expect.poll(() => rows().count()).toBeGreaterThan(50);
  await page.getByLabel("Time").click();
  await page.getByRole("option", { name: "Last 7 days" }).click();
  await expect.poll(() => rows().count()).toBe(8);
});

test("ORG-10 the filtered entries are downloaded as CSV and JSON Lines", async () => {
  await page.goto(`${screen("audit-log")}?group=keys`);
  for (const [item, file] of [
    ["CSV", /\.csv$/],
    ["JSON Lines", /\.jsonl$/],
  ] as const) {
    await page.getByRole("button", { name: "Export" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: item }).click();
    expect((await download).suggestedFilename()).toMatch(file);
  }
});

test.runIf(isThorough)("ORG-10 members neither find the audit log in the navigation nor open it", async () => {
  const person = await seededMember(site.url, site.db);
  await site.db.delete(member).where(eq(member.userId, person.userId));
  const { id: organizationId } = owner.organization;
  await site.db.insert(member).values({ id: newId(), organizationId, userId: person.userId, role: "member" });
  const theirs = await browser.signedInPage(site.url, person);
  await theirs.goto(screen("members"));
  await theirs.getByRole("table", { name: "Members" }).waitFor();
  await expect.poll(() => theirs.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  await theirs.goto(screen("audit-log"));
  await theirs.getByRole("heading", { name: "Access Denied" }).waitFor();
});

test.runIf(isThorough)(
  "ORG-4 an admin changes the organization's name and address, and old links lead to the new one",
  async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(screen("general"));
    const form = page.getByRole("form", { name: "Name and address" });
    await form.getByLabel("Address").fill("login");
    await form.getByRole("button", { name: "Save", exact: true }).click();
    await form.getByText("This address is reserved").waitFor();
    await form.getByLabel("Address").fill("not ok");
    await form.getByRole("button", { name: "Save", exact: true }).click();
    await form.getByText(/may contain lowercase letters/).waitFor();
    await expectAccessible(page);
    const slug = `canal-${newId().slice(-12)}`;
    await form.getByLabel("Name").fill("Canal Works");
    await form.getByLabel("Address").fill(slug);
    await form.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL(`${site.url}/${slug}/settings/general`);
    await page.getByText("Canal Works").first().waitFor();
    await page.goto(screen("members"));
    await page.waitForURL(`${site.url}/${slug}/settings/members`);
    const [stored] = await site.db.select().from(organization).where(eq(organization.slug, slug));
    expect(stored?.name).toBe("Canal Works");
  },
);
