import { createApiKey } from "@towpath/core/tenancy/api-key";
import { sampleManifest, sampleTool, seedLiveVersion, seedProject, testContext } from "@towpath/core/testing";
import { accessPolicy, build, member, project } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, expectAccessibleInBothThemes, openBrowser, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let owner: Member;
let own: Awaited<ReturnType<typeof seedProject>>;
let keyId: string;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  own = await seedProject(site.db, owner.organization);
  const ctx = testContext(site.db, owner.organization.owner);
  const input = { orgSlug: owner.organization.slug, kind: "organization", name: "Deploy bot" } as const;
  keyId = (await createApiKey({ ctx, input })).id;
  await createApiKey({ ctx, input: { ...input, name: "Old script" } });
  page = await browser.signedInPage(site.url, owner);
});

const goTo = () => page.goto(`${site.url}/${owner.organization.slug}/${own.name}/access`);
const stored = async () =>
  (await site.db.select().from(accessPolicy).where(eq(accessPolicy.projectId, own.id)))[0] ?? null;
const box = (name: string | RegExp) => page.getByRole("checkbox", { name });

/** Makes a version live in production whose manifest has these tools. */
const goLive = async (...tools: string[]) =>
  seedLiveVersion(site.db, own, {
    label: own.name,
    sequence: (await site.db.$count(build)) + 1,
    manifest: sampleManifest({ tools: tools.map((name) => sampleTool(name)) }),
  });

async function save(): Promise<void> {
  await page.getByRole("button", { name: "Save access" }).click();
  await page.getByText("Saved. It applies within seconds.").waitFor();
}

test.runIf(isThorough)(
  "GW-15 without a deployment the page shows the defaults, and says that there are no tools to choose yet",
  async () => {
    await goTo();
    await box(/^Owners/).waitFor();
    const checked = await Promise.all(
      [/^Owners/, /^Admins/, /^Members/, /^Viewers/].map((role) => box(role).isChecked()),
    );
    expect(checked).toEqual([true, true, true, false]);
    await page.getByRole("radio", { name: /^Only selected tools/ }).click();
    await page.getByText("Nothing is live yet.").waitFor();
    await expectAccessible(page);
    await expect.poll(() => stored()).toBeNull();
  },
);

test("GW-15 by keyboard: roles, keys and the live version's tools are chosen, saved and shown again", async () => {
  await goLive("echo", "drop_table");
  await goTo();
  await untilHydrated(page);
  await box(/^Members/).focus();
  await page.keyboard.press("Space");
  await page.getByRole("radio", { name: /^Only selected keys/ }).focus();
  await page.keyboard.press("Space");
  await box(/^Old script/).focus();
  await page.keyboard.press("Space");
  await page.getByRole("radio", { name: /^Only selected tools/ }).focus();
  await page.keyboard.press("Space");
  await page.getByText("New tools can't be called until you allow them here.").waitFor();
  await box(/^drop_table/).focus();
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Save access" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Saved. It applies within seconds.").waitFor();
  await expect.poll(() => stored()).toMatchObject({ roles: ["owner", "admin"], apiKeyIds: [keyId], tools: ["echo"] });
  await goTo();
  await expect.poll(() => box(/^drop_table/).isChecked(), { timeout: 15_000 }).toBe(false);
  await expect.poll(() => box(/^echo/).isChecked()).toBe(true);
  await expect.poll(() => box(/^Deploy bot/).isChecked()).toBe(true);
  await expectAccessibleInBothThemes(page);
  await page.setViewportSize({ width: 1280, height: 800 });
});

test.runIf(isThorough)(
  "GW-15 a tool that is new since then is marked and not allowed; saving again clears the mark",
  async () => {
    await goLive("echo", "drop_table", "purge");
    await goTo();
    const added = page.getByRole("listitem").filter({ hasText: "purge" });
    await added.getByText("New", { exact: true }).waitFor();
    await expect.poll(() => box(/^purge/).isChecked()).toBe(false);
    await goLive("drop_table", "purge");
    await goTo();
    await page.getByRole("listitem").filter({ hasText: "echo" }).getByText("Not in the live version").waitFor();
    await save();
    await added.getByText("New", { exact: true }).waitFor({ state: "detached" });
    await expect.poll(async () => (await stored())?.knownTools).toEqual(["drop_table", "purge"]);
  },
);

test.runIf(isThorough)(
  "GW-15 nobody at all is refused with what to do, and a change by somebody else meanwhile is not overwritten",
  async () => {
    await goTo();
    await box(/^Owners/).click();
    await box(/^Admins/).click();
    await box(/^Deploy bot/).click();
    await page.getByRole("button", { name: "Save access" }).click();
    await page.getByRole("alert").getByText("Allow at least one role or API key.").waitFor();
    await expectAccessible(page);
    await goTo();
    await box(/^Owners/).waitFor();
    const data = {
      orgSlug: owner.organization.slug,
      projectName: own.name,
      roles: ["owner"],
      apiKeys: "all",
      tools: "all",
    };
    expect((await callServerFunction(owner.visitor, "access.saveAccess", "POST", data)).status).toBe(200);
    await page.getByRole("button", { name: "Save access" }).click();
    await page.getByRole("alert").getByText("Someone else just changed").waitFor();
    await expect.poll(() => stored()).toMatchObject({ roles: ["owner"], apiKeyIds: null, tools: null });
  },
);

test("GW-15 an open server says that roles and keys don't apply to it", async () => {
  await site.db.update(project).set({ authMode: "towpath-public" }).where(eq(project.id, own.id));
  await goTo();
  await page.getByText("Anyone with the URL can call this server, so roles and API keys don't apply.").waitFor();
  await expectAccessible(page);
});

test("GW-15 members see the page without being able to change it, viewers don't see it", async () => {
  const where = and(eq(member.organizationId, owner.organization.id), eq(member.userId, owner.userId));
  await site.db.update(member).set({ role: "member" }).where(where);
  await goTo();
  await page.getByText("Only owners and admins of this organization can change who may call its servers.").waitFor();
  await expect.poll(() => box(/^Owners/).isDisabled()).toBe(true);
  await expect.poll(() => page.getByRole("button", { name: "Save access" }).count()).toBe(0);
  await expectAccessible(page);
  await site.db.update(member).set({ role: "viewer" }).where(where);
  await goTo();
  await page.getByText("Your role can't see who may call this server").waitFor();
  await expectAccessible(page);
});

test.runIf(isThorough)("UI-5 on a phone the menu shows which page is open", async () => {
  await page.setViewportSize({ width: 360, height: 800 });
  await goTo();
  await page.getByRole("button", { name: "Menu" }).click();
  // Access is one of the tabs of the settings.
  const link = page.getByRole("dialog").getByRole("link", { name: "Settings", exact: true });
  await expect.poll(() => link.getAttribute("aria-current")).toBe("true");
});
