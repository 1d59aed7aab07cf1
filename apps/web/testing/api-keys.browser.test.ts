import { verifyApiKey } from "@towpath/auth/credentials";
import { newId } from "@towpath/core/ids";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { seedLiveProject, seedProject, testContext } from "@towpath/core/testing";
import { member as memberTable } from "@towpath/db/schema";
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
let colleague: Member;
let page: Page;
let servers: { id: string; name: string }[];

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  const { organization } = owner;
  servers = [
    await seedProject(site.db, organization, { name: "quick-red-heron" }),
    await seedProject(site.db, organization, { name: "quiet-blue-otter" }),
  ];
  // Only of this organization: with a second one, the session would have to be switched first.
  const other = await seededMember(site.url, site.db);
  await site.db.delete(memberTable).where(eq(memberTable.userId, other.userId));
  colleague = { ...other, organization };
  await site.db
    .insert(memberTable)
    .values({ id: newId(), organizationId: organization.id, userId: other.userId, role: "member" });
  page = await browser.signedInPage(site.url, owner);
});

const screen = () => `${site.url}/${owner.organization.slug}/settings/api-keys`;
const section = (name: string) => page.getByRole("region", { name });
const choose = async (of: string, option: string) => {
  await page.getByRole("dialog").getByLabel(of).click();
  await page.getByRole("option", { name: option }).click();
};
const newKey = async () => (await page.getByTestId("new-api-key").textContent()) ?? "";

test("KEY-3 an owner creates a key of the organization for one server, is shown it once and how to use it", async () => {
  await page.goto(screen());
  await page.getByText("You have no keys yet").waitFor();
  await page.getByText("No organization keys").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByText("Key name is required").waitFor();
  await page.getByRole("dialog").getByLabel("Name").fill("CI");
  await choose("Acts as", "The organization");
  await page.getByText("It can change nothing.").waitFor();
  await choose("May", "Call and manage servers");
  await choose("Servers", "Selected servers");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByText("Choose at least one server").waitFor();
  await page.getByRole("checkbox", { name: "quick-red-heron" }).click();
  await choose("Expires after", "7 days");
  await expectAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const key = await newKey();
  await page.getByText("quick-red-heron isn't live yet: this works after its first build.").waitFor();
  await expect
    .poll(() => verifyApiKey(site.pool, key))
    .toMatchObject({ userId: null, projectIds: [servers[0]?.id], mayManage: true });
  for (const client of ["Claude Code", "Cursor", "VS Code", "curl"]) {
    await page.getByRole("tab", { name: client }).click();
    const snippet = page.getByRole("group", { name: `${client} snippet` });
    await snippet.waitFor();
    // VS Code asks for the key, because its file is in a workspace and committed.
    await expect.poll(async () => (await snippet.textContent())?.includes(key)).toBe(client !== "VS Code");
    await expect.poll(() => snippet.textContent()).toContain("/quick-red-heron/mcp");
  }
  await expectAccessible(page);
  const row = section("Organization keys").getByRole("row").filter({ hasText: "CI" });
  await expect.poll(() => row.textContent()).toMatch(/Manage.*quick-red-heron.*Active/);
  await page.getByRole("button", { name: "I've copied it" }).click();
  await expect.poll(() => page.content()).not.toContain(key);
  await page.reload();
  await row.waitFor();
  await expect.poll(() => page.content()).not.toContain(key);
});

test("KEY-3 a key is revoked and deleted by keyboard, after a confirmation, and Escape changes nothing", async () => {
  await page.goto(screen());
  const row = section("Organization keys").getByRole("row").filter({ hasText: "CI" });
  const openMenu = async (item: string) => {
    await row.getByRole("button", { name: "Actions for CI" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: item }).waitFor();
    await page.getByRole("menuitem", { name: item }).press("Enter");
    await page.getByRole("dialog").waitFor();
  };
  await openMenu("Revoke");
  await page.getByText("their open connections end").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await expect.poll(() => row.textContent()).toContain("Active");
  await openMenu("Revoke");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke key" }).press("Enter");
  await row.getByText("Revoked").waitFor();
  await openMenu("Delete");
  await page.getByRole("button", { name: "Delete key" }).press("Enter");
  // Until then nothing behind it can be found.
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await row.waitFor({ state: "detached" });
});

test.runIf(isThorough)(
  "KEY-3 a member creates keys of their own only, and an admin sees and revokes them",
  async () => {
    await seedLiveProject(site.db, owner.organization, { name: "wide-green-crane" });
    const theirs = await browser.signedInPage(site.url, colleague);
    await theirs.goto(screen());
    await theirs.getByText("Owners and admins can create them.").waitFor();
    await theirs.getByRole("button", { name: "Create key" }).click();
    await theirs.getByRole("dialog").getByLabel("Name").fill("Laptop");
    await expect.poll(() => theirs.getByLabel("Acts as").count()).toBe(0);
    await theirs.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
    const key = (await theirs.getByTestId("new-api-key").textContent()) ?? "";
    await expect
      .poll(() => verifyApiKey(site.pool, key))
      .toMatchObject({ userId: colleague.userId, projectIds: null, mayManage: false });
    await theirs.getByRole("tab", { name: "curl" }).click();
    const snippet = theirs.getByRole("group", { name: "curl snippet" });
    await expect.poll(() => snippet.textContent()).toContain("/wide-green-crane/mcp");
    await expect.poll(() => theirs.getByRole("region", { name: "Other members' keys" }).count()).toBe(0);

    await page.goto(screen());
    const row = section("Other members' keys").getByRole("row").filter({ hasText: "Laptop" });
    await row.getByText("Ada Lovelace").waitFor();
    await expectAccessible(page);
    await row.getByRole("button", { name: "Actions for Laptop" }).click();
    await page.getByRole("menuitem", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke key" }).click();
    await row.getByText("Revoked").waitFor();
    await expect.poll(() => verifyApiKey(site.pool, key)).toBeNull();
  },
);

test.runIf(isThorough)("KEY-3 a viewer reads why their keys don't work, and can still revoke them", async () => {
  const ctx = testContext(site.db, { kind: "user", userId: colleague.userId, ipAddress: null });
  const input = { orgSlug: owner.organization.slug, kind: "personal", name: "Old phone" } as const;
  const made = await createApiKey({ ctx, input });
  await site.db.update(memberTable).set({ role: "viewer" }).where(eq(memberTable.userId, colleague.userId));
  const theirs = await browser.signedInPage(site.url, colleague);
  await theirs.goto(screen());
  await theirs.getByText("Your role can't call servers").waitFor();
  await expectAccessible(theirs);
  await expect.poll(() => theirs.getByRole("button", { name: "Create key" }).count()).toBe(0);
  await expect.poll(() => theirs.getByText("Organization keys").count()).toBe(0);
  await theirs.getByRole("button", { name: "Actions for Old phone" }).click();
  await theirs.getByRole("menuitem", { name: "Revoke" }).click();
  await theirs.getByRole("button", { name: "Revoke key" }).click();
  await theirs.getByRole("row").filter({ hasText: "Old phone" }).getByText("Revoked").waitFor();
  await expect.poll(() => verifyApiKey(site.pool, made.key)).toBeNull();
});
