import { seedProject } from "@towpath/core/testing";
import { member, organization, project } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let owner: Member;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});

const exists = async (id: string) => (await site.db.$count(project, eq(project.id, id))) === 1;
const remove = (method: "DELETE", name: string, token: string) =>
  fetch(`${site.url}/api/v1/projects/${name}`, { method, headers: { authorization: `Bearer ${token}` } });

test("PRJ-11 a project is deleted in its settings after typing its name, and the list no longer shows it", async () => {
  const { slug } = owner.organization;
  const [own, kept] = [await seedProject(site.db, owner.organization), await seedProject(site.db, owner.organization)];
  await page.goto(`${site.url}/${slug}/${own.name}/settings`);
  await page.getByRole("button", { name: "Delete server" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete server" });
  await dialog.getByText("the request log, server logs and build logs").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("textbox").fill(kept.name);
  await dialog.getByRole("button", { name: "Delete server" }).click();
  await dialog.getByText(`Type ${own.name} to confirm.`).waitFor();
  await expect.poll(() => exists(own.id)).toBe(true);
  await dialog.getByRole("textbox").fill(own.name);
  await dialog.getByRole("button", { name: "Delete server" }).click();
  await page.waitForURL(`${site.url}/${slug}/servers`);
  await page.getByText(kept.name).first().waitFor();
  await expect.poll(() => page.getByText(own.name).count()).toBe(0);
  await expect.poll(async () => [await exists(own.id), await exists(kept.id)]).toEqual([false, true]);
});

test.runIf(isThorough)(
  "PRJ-11 members are offered no deletion of a project or an organization, and the functions refuse them",
  async () => {
    const own = await seedProject(site.db, owner.organization);
    const { slug, id } = owner.organization;
    const role = (name: string) => site.db.update(member).set({ role: name }).where(eq(member.organizationId, id));
    await role("member");
    await page.goto(`${site.url}/${slug}/${own.name}/settings`);
    await page.getByRole("switch", { name: "Keep payloads" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Delete server" }).count()).toBe(0);
    await page.goto(`${site.url}/${slug}/settings/general`);
    await page.getByText("Your role can't change these settings").waitFor();
    await expectAccessible(page);
    const calls = [
      callServerFunction(owner.visitor, "settings.removeProject", "POST", {
        orgSlug: slug,
        projectName: own.name,
        confirmation: own.name,
      }),
      callServerFunction(owner.visitor, "organization-settings.removeOrganization", "POST", {
        orgSlug: slug,
        confirmation: slug,
      }),
    ];
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([403, 403]);
    await expect.poll(() => exists(own.id)).toBe(true);
    await role("owner");
  },
);

test("OPS-4 PRJ-11 the operator deletes a project by its name; without the token it is refused", async () => {
  const own = await seedProject(site.db, owner.organization);
  expect((await remove("DELETE", own.name, "not the token")).status).toBe(401);
  await expect.poll(() => exists(own.id)).toBe(true);
  const done = await remove("DELETE", own.name, site.operatorToken);
  expect([done.status, await done.json()]).toEqual([200, { id: own.id }]);
  await expect.poll(() => exists(own.id)).toBe(false);
  expect((await remove("DELETE", own.name, site.operatorToken)).status).toBe(404);
});

test("PRJ-11 an owner deletes the organization in its preferences and may create another", async () => {
  const own = await seedProject(site.db, owner.organization);
  const { slug, id } = owner.organization;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${site.url}/${slug}/servers`);
  await page.getByRole("navigation").getByRole("link", { name: "General" }).click();
  await page.getByRole("button", { name: "Delete organization" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete organization" });
  await dialog.getByText("People keep their accounts.").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("textbox").fill(slug);
  await dialog.getByRole("button", { name: "Delete organization" }).click();
  await page.waitForURL(/\/welcome\/create-organization$/);
  await expect.poll(() => exists(own.id)).toBe(false);
  await expect.poll(() => site.db.$count(organization, and(eq(organization.id, id), sql`true`))).toBe(0);
});
