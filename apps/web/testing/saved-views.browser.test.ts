import { newId } from "@towpath/core/ids";
import { png, sampleManifest, seedLiveProject } from "@towpath/core/testing";
import { sha256 } from "@towpath/crypto";
import { branch, build, member, savedView, serverIcon } from "@towpath/db/schema";
import { foldRequestLogs, SignInRecorder, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { and, eq, isNull } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough, rounds } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let page: Page;
let project: Awaited<ReturnType<typeof seedLiveProject>>;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  project = await seedLiveProject(site.db, owner.organization, {}, { manifest: sampleManifest() });
  const call = { projectId: project.id, organizationId: owner.organization.id };
  await writeRequestLogs(site.pool, [
    requestLogRow(call),
    requestLogRow({ ...call, isError: true, outcome: "tool_error" }),
  ]);
  while ((await foldRequestLogs(site.pool)) > 0);
  const recorder = new SignInRecorder({ pool: site.pool, onProblem: () => {} });
  const who = { address: "127.0.0.1", agent: "test-sdk/1.0", isProven: false, projectId: project.id };
  recorder.record({ ...who, kind: "challenge", problem: null });
  await recorder.stop(2000);
  page = await browser.signedInPage(site.url, owner);
});

const address = (path: string) => `${site.url}/${owner.organization.slug}/${project.name}${path}`;
const searchOf = (on: Page) => new URL(on.url()).search;
const search = () => searchOf(page);
const views = (on: Page = page) => on.getByRole("main").getByRole("button", { name: /^Views/ });
const item = (name: string | RegExp, on: Page = page) => on.getByRole("menuitem", { name });
const dialog = (on: Page = page) => on.getByRole("dialog");

async function choose(name: string | RegExp, on: Page = page): Promise<void> {
  await views(on).click();
  await item(name, on).click();
}

async function open(path: string, on: Page = page): Promise<void> {
  await on.goto(address(path));
  await untilHydrated(on);
}

test("CAP-7 a person saves the filters of a list, opens them by name, changes, renames and deletes them", async () => {
  await open("/errors?sort=count&tool=echo");
  await views().click();
  await page.getByText("save that under a name").waitFor();
  await item("Save as a view…").click();
  await dialog().getByText("tool: echo").waitFor();
  await dialog().getByRole("button", { name: "Save view" }).click();
  await dialog().getByText("Give the view a name").waitFor();
  await dialog().getByLabel("Name").fill("Echo, most often");
  await expectAccessibleInBothThemes(page);
  await dialog().getByRole("button", { name: "Save view" }).click();
  await dialog().waitFor({ state: "detached" });
  await expect.poll(() => views().textContent()).toContain("Echo, most often");

  await choose("Clear all filters");
  await expect.poll(search).toBe("");
  await choose(/Echo, most often/);
  await expect
    .poll(() => [...new URLSearchParams(search())].toSorted())
    .toEqual([
      ["sort", "count"],
      ["tool", "echo"],
    ]);
  await page.getByLabel("Filter errors").fill("boom");
  await expect.poll(search).toContain("q=boom");
  await choose("Update “Echo, most often”");
  await page.getByText("now has these filters").waitFor();
  const rows = await site.db.select().from(savedView).where(eq(savedView.projectId, project.id));
  expect(rows).toMatchObject([{ list: "errors", search: { sort: "count", tool: "echo", q: "boom" } }]);

  await choose("Manage views…");
  await expectAccessibleInBothThemes(page);
  await dialog().getByRole("button", { name: "Rename Echo, most often" }).click();
  await dialog().getByLabel("Name").fill("Echo");
  await dialog().getByRole("button", { name: "Rename" }).click();
  await dialog().getByRole("button", { name: "Delete Echo" }).click();
  await dialog().getByRole("button", { name: "Delete view" }).click();
  await dialog().getByText("No views are left").waitFor();
  await page.keyboard.press("Escape");
  await dialog().waitFor({ state: "detached" });
});

test.runIf(isThorough)(
  "CAP-7 a list opens with the default view until its filters are cleared, and says what of it is gone",
  async () => {
    const gone = newId();
    await site.db.insert(branch).values({ id: gone, projectId: project.id, name: "gusts" });
    await open("/logs?status=error&branch=gusts");
    await choose("Save as a view…");
    await dialog().getByLabel("Name").fill("Gusts");
    await dialog().getByText("Open this list with it").click();
    await dialog().getByRole("button", { name: "Save view" }).click();
    await dialog().waitFor({ state: "detached" });
    // From the server, and by a link of the page.
    await open("/logs");
    await expect.poll(() => new URLSearchParams(search()).get("branch")).toBe("gusts");
    await expect.poll(() => views().textContent()).toContain("Gusts");
    await choose("Clear all filters");
    await expect.poll(search).toBe("");
    const tab = (name: string) => page.getByRole("main").getByRole("link", { name, exact: true });
    await tab("Sessions").click();
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await tab("Calls").click();
    await expect.poll(() => page.url()).toContain("status=error");

    await site.db.delete(branch).where(eq(branch.id, gone));
    await open("/logs");
    await expect.poll(search).toBe("?status=error");
    await page.getByText("“Gusts” opened without branch: gusts, which no longer applies.").waitFor();
    await expectAccessibleInBothThemes(page);
    await choose("Manage views…");
    await dialog().getByRole("button", { name: "Don't open the list with Gusts" }).click();
    await dialog().getByRole("button", { name: "Open the list with Gusts" }).waitFor();
    await page.keyboard.press("Escape");
    await open("/logs");
    expect(search()).toBe("");
  },
);

test.runIf(isThorough)(
  "CAP-7 a shared view with its order opens for a viewer, also from the palette, who can't change it",
  async () => {
    await open("/sessions?timeRange=7d");
    await page.getByRole("columnheader", { name: "Calls" }).getByRole("button").click();
    await expect.poll(search).toContain("order=Calls");
    await choose("Save as a view…");
    await dialog().getByLabel("Name").fill("Quiet sessions");
    await dialog().getByText("Share with all members").click();
    await dialog().getByRole("button", { name: "Save view" }).click();
    await dialog().waitFor({ state: "detached" });
    const viewer = await seededMember(site.url, site.db);
    const joined = { organizationId: owner.organization.id, role: "viewer" };
    await site.db.update(member).set(joined).where(eq(member.userId, viewer.userId));
    const theirs = await browser.signedInPage(site.url, viewer);
    await open("", theirs);
    await theirs.keyboard.press("Control+K");
    await theirs.getByRole("combobox").fill("quiet");
    await theirs.getByRole("option", { name: /Quiet sessions/ }).click();
    await expect
      .poll(() => Object.fromEntries(new URLSearchParams(searchOf(theirs))))
      .toEqual({ timeRange: "7d", order: "Calls" });
    const sorted = () => theirs.getByRole("columnheader", { name: "Calls" }).getAttribute("aria-sort");
    await expect.poll(sorted).toBe("ascending");
    await choose("Manage views…", theirs);
    await dialog(theirs).getByText("Shared", { exact: true }).waitFor();
    expect(
      await dialog(theirs)
        .getByRole("button", { name: /^(Rename|Delete)/ })
        .count(),
    ).toBe(0);
    await theirs.keyboard.press("Escape");
    await choose("Save as a view…", theirs);
    expect(await dialog(theirs).getByText("Share with all members").count()).toBe(0);
    await theirs.context().close();
  },
);

const pages: Readonly<Record<string, readonly [path: string, query: string]>> = {
  users: ["/users", "timeRange=7d"],
  deployments: ["/deployments", "order=-Created"],
  "sign-ins": ["/sign-ins", "state=unfinished"],
  surface: ["/surface", "kind=tool"],
};

/** By default one list: all have the same menu. */
const tried = Object.entries(pages).slice(0, rounds(1, Infinity));

test.each(tried)("CAP-7 views of a list are saved and opened: %s", async (list, [path, query]) => {
  await open(`${path}?${query}`);
  await expect.poll(() => views().count()).toBe(1);
  await choose("Save as a view…");
  await dialog().getByLabel("Name").fill(`View of ${list}`);
  await dialog().getByRole("button", { name: "Save view" }).click();
  await dialog().waitFor({ state: "detached" });
  await choose("Clear all filters");
  await expect.poll(search).toBe("");
  await choose(new RegExp(`View of ${list}`));
  await expect.poll(search).toBe(`?${query}`);
});

test.runIf(isThorough)("CAP-7 the organization's lists have views: servers and the audit log", async () => {
  for (const [path, query] of [
    ["/servers", "type=private"],
    ["/settings/audit-log", "time=7d"],
  ] as const) {
    await page.goto(`${site.url}/${owner.organization.slug}${path}?${query}`);
    await untilHydrated(page);
    await choose("Save as a view…");
    await dialog().getByLabel("Name").fill(`Kept ${query}`);
    await dialog().getByText("Open this list with it").click();
    await dialog().getByRole("button", { name: "Save view" }).click();
    await dialog().waitFor({ state: "detached" });
    await page.goto(`${site.url}/${owner.organization.slug}${path}`);
    await expect.poll(search).toBe(`?${query}`);
  }
  const ofOrganization = and(eq(savedView.organizationId, owner.organization.id), isNull(savedView.projectId));
  expect(await site.db.$count(savedView, ofOrganization)).toBe(2);
});

test.runIf(isThorough)(
  "CAP-7 a server's own icon is shown in the list and on its page, from this site and as a picture only",
  async () => {
    const bytes = png(96, 96, project.name);
    const hash = sha256(bytes);
    const icon = { projectId: project.id, hash, contentType: "image/png", bytes, createdAt: new Date() };
    await site.db.insert(serverIcon).values(icon);
    await site.db.update(build).set({ iconHash: hash }).where(eq(build.projectId, project.id));
    const shown = () =>
      page
        .getByRole("main")
        .locator(`img[src="/api/icons/${hash}"]`)
        .first()
        .evaluate((image: HTMLImageElement) => image.naturalWidth);
    await page.goto(`${site.url}/${owner.organization.slug}/servers?type=all`);
    await expect.poll(shown).toBe(96);
    await page.goto(address(""));
    await expect.poll(shown).toBe(96);
    const answer = await fetch(`${site.url}/api/icons/${hash}`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringMatching(/default-src 'none'.*sandbox/),
    });
    expect((await fetch(`${site.url}/api/icons/${"x".repeat(43)}`)).status).toBe(404);
    // An icon of a version that is gone: the letter instead.
    await site.db.delete(serverIcon).where(eq(serverIcon.projectId, project.id));
    await site.db
      .update(build)
      .set({ iconHash: `${hash.slice(0, -1)}_` })
      .where(eq(build.projectId, project.id));
    await page.goto(address(""));
    await expect.poll(() => page.getByRole("main").locator("img[src^='/api/icons/']").count()).toBe(0);
  },
);
