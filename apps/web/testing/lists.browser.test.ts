import { newId } from "@towpath/core/ids";
import { seedProject, shaOf } from "@towpath/core/testing";
import { branch, build, deployment, project, route } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, openBrowser, passTimeUntil, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let owner: Member;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});

const see = (text: string | RegExp) => page.getByText(text).first().waitFor();
const rowsOf = (table: string) => page.getByRole("table", { name: table }).locator("tbody").getByRole("row");
const search = () => new URL(page.url()).search;

test.runIf(isThorough)("ORG-2 servers are filtered by type and text, and the selected one is marked", async () => {
  const { organization } = owner;
  const open = await seedProject(site.db, organization, { authMode: "towpath-public" });
  const secret = await seedProject(site.db, organization, { authMode: "towpath-cloud" });
  const servers = `${site.url}/${organization.slug}/servers`;
  await page.goto(servers);
  await expect.poll(() => rowsOf("Servers").count()).toBe(2);

  await page.getByLabel("Access").click();
  await page.getByRole("option", { name: "Private" }).click();
  await expect.poll(() => rowsOf("Servers").count()).toBe(1);
  await see(secret.name);
  expect(search()).toBe("?type=private");

  await page.getByLabel("Access").click();
  await page.getByRole("option", { name: "Open to anyone" }).click();
  await see(open.name);
  expect(search()).toBe("?type=open");

  await page.getByLabel("Access").click();
  await page.getByRole("option", { name: "All servers" }).click();
  await expect.poll(() => rowsOf("Servers").count()).toBe(2);
  // Defaults are left out of the URL.
  expect(search()).toBe("");

  await page.getByRole("searchbox").fill(open.name.toUpperCase());
  await expect.poll(() => rowsOf("Servers").count()).toBe(1);
  expect(new URLSearchParams(search()).get("text")).toBe(open.name.toUpperCase());

  await page.goto(`${servers}?type=nonsense&selected=${secret.name}`);
  await expect.poll(() => rowsOf("Servers").count()).toBe(2);
  const marked = (name: string) => rowsOf("Servers").filter({ hasText: name }).getAttribute("aria-current");
  await expect.poll(async () => [await marked(secret.name), await marked(open.name)]).toEqual(["true", null]);
  await expectAccessible(page);
});

/** A project with 101 builds: the newest one failed on a pull request, the one before it is live in production. */
async function projectWithBuilds(): Promise<string> {
  const { db } = site;
  const project = await seedProject(db, owner.organization);
  const ids = { projectId: project.id, branchId: project.branchId };
  const previewId = newId();
  await db.insert(branch).values({
    id: previewId,
    projectId: project.id,
    name: "feature/faster",
    pullRequestNumber: 7,
    pullRequestUrl: "https://github.com/acme/echo/pull/7",
  });
  const row = (sequence: number, more: Partial<typeof build.$inferInsert>) => ({
    id: newId(),
    projectId: project.id,
    branchId: project.branchId,
    status: "succeeded" as const,
    commitSha: shaOf(`c${sequence}`),
    commitMessage: `Commit ${sequence}`,
    trigger: "push" as const,
    sequence,
    entrypoint: "echo.py",
    createdAt: new Date(Date.now() - (200 - sequence) * 60_000),
    ...more,
  });
  const old = Array.from({ length: 99 }, (_, index) => row(index + 1, {}));
  const live = row(100, { commitMessage: "Answer faster\n\nMore text" });
  const failed = row(101, {
    status: "failed",
    branchId: previewId,
    commitMessage: "Try something",
    pullRequestNumber: 7,
    pullRequestUrl: "https://github.com/acme/echo/pull/7",
  });
  await db.insert(build).values([...old, live, failed]);
  const deploymentId = newId();
  await db.insert(deployment).values({
    id: deploymentId,
    projectId: project.id,
    branchId: project.branchId,
    buildId: live.id,
    environment: "production",
    slug: project.name,
  });
  await db.insert(route).values({ ...ids, label: project.name, deploymentId, sequence: live.sequence });
  return project.name;
}

// On a busy machine, checking the accessibility of a hundred rows takes half a minute.
test("PRJ-2 builds show status, commit, message, branch, pull request and whether they are live, 100 per page", async () => {
  const name = await projectWithBuilds();
  await page.goto(`${site.url}/${owner.organization.slug}/${name}/deployments`);
  const rows = rowsOf("Builds");
  await expect.poll(() => rows.count()).toBe(100);
  const [first, second] = [await rows.nth(0).textContent(), await rows.nth(1).textContent()];
  for (const text of ["Failed", "Try something", "feature/faster", shaOf("c101").slice(0, 7), "#7", "ago"]) {
    expect(first).toContain(text);
  }
  await expect
    .poll(() => rows.nth(0).getByRole("link", { name: "#7" }).getAttribute("href"))
    .toBe("https://github.com/acme/echo/pull/7");
  for (const text of ["Live", "Answer faster", "main", shaOf("c100").slice(0, 7)]) expect(second).toContain(text);
  expect(second).not.toContain("More text");
  await rows.getByText("Live", { exact: true }).waitFor();
  await expect
    .poll(() => rows.filter({ has: page.getByText("Live", { exact: true }) }).allTextContents())
    .toEqual([second]);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Show older builds" }).click();
  await expect.poll(() => rows.count()).toBe(101);
  await expect.poll(() => page.getByRole("button", { name: "Show older builds" }).count()).toBe(0);
}, 120_000);

test.runIf(isThorough)(
  "PRJ-2 the builds of one branch, by choice and by address; a branch that isn't there says so",
  async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole("combobox", { name: "Branch" }).click();
    await page.getByRole("option", { name: "feature/faster" }).click();
    await expect.poll(() => rowsOf("Builds").count()).toBe(1);
    expect(new URLSearchParams(search()).get("branch")).toBe("feature/faster");
    // With the loaded older builds.
    await page.goBack();
    await expect.poll(() => rowsOf("Builds").count()).toBe(101);
    const all = page.url().split("?")[0];
    await page.goto(`${all}?branch=nowhere`);
    await see("There is no branch nowhere");
    await expectAccessible(page);
    await page.getByRole("link", { name: "All deployments" }).click();
    await expect.poll(() => rowsOf("Builds").count()).toBe(100);
  },
);

test("PRJ-2 a branch with a pull request is among the previews", async () => {
  await see("Previews");
  const preview = page.getByRole("list", { name: "Previews" }).getByRole("listitem");
  await expect.poll(() => preview.first().textContent()).toContain("Try something");
});

test.runIf(isThorough)("PRJ-2 the screen has its own error view, with a retry", async () => {
  const { name } = await seedProject(site.db, owner.organization);
  const failing = await browser.signedInPage(site.url, owner);
  await failing.clock.install();
  await failing.goto(`${site.url}/${owner.organization.slug}/${name}/settings`);
  await untilHydrated(failing);
  await failing.route(/_serverFn\/build\.getBuilds/, (answer) => answer.fulfill({ status: 500, body: "broken" }));
  await failing.getByRole("link", { name: "Deployments" }).click();
  await passTimeUntil(failing, failing.getByText("Couldn't load the deployments"));
  await expectAccessible(failing);
  await failing.unroute(/_serverFn\/build\.getBuilds/);
  await failing.getByRole("button", { name: "Try again" }).click();
  await failing.getByText("Production, previews, and the builds").waitFor();
});

test.runIf(isThorough)(
  "PRJ-2 the screen has its own not-found view, for a project that was deleted meanwhile",
  async () => {
    const own = await seedProject(site.db, owner.organization);
    await page.goto(`${site.url}/${owner.organization.slug}/${own.name}/settings`);
    const deployments = page.getByRole("link", { name: "Deployments" });
    await untilHydrated(page);
    await site.db.delete(project).where(eq(project.id, own.id));
    await deployments.click();
    await page.getByText("No deployments found").waitFor({ timeout: 60_000 });
    await expectAccessible(page);
  },
  90_000,
);

test("PRJ-8 PRJ-15 the clients screen has a guide for each client, and its own error and not-found views", async () => {
  const own = await seedProject(site.db, owner.organization);
  const tab = await browser.signedInPage(site.url, owner);
  await tab.clock.install();
  await tab.goto(`${site.url}/${owner.organization.slug}/${own.name}/settings`);
  await untilHydrated(tab);
  const clients = tab.getByRole("link", { name: "Clients" });
  await tab.route(/_serverFn\/oauth\.getConnectedClients/, (answer) => answer.fulfill({ status: 500, body: "broken" }));
  await clients.click();
  await passTimeUntil(tab, tab.getByText("Couldn't load the clients"));
  await expectAccessible(tab);
  await tab.unroute(/_serverFn\/oauth\.getConnectedClients/);
  await tab.getByRole("button", { name: "Try again" }).click();
  const guides = tab.getByRole("tablist", { name: "Client" }).getByRole("tab");
  const named = [
    "Cursor",
    "VS Code",
    "Claude Code",
    "Claude",
    "ChatGPT",
    "Codex",
    "Gemini CLI",
    "Windsurf",
    "LM Studio",
  ];
  for (const name of named) {
    await guides.filter({ hasText: new RegExp(`^${name}$`) }).click();
    const guide = tab.getByRole("tabpanel", { name, exact: true });
    await expect.poll(() => guide.textContent()).toMatch(new RegExp(`${own.name}|address`));
  }

  await tab.context().close();

  // With the real clock: with the other one, the page would be old enough to refetch the project and show ERR-2.
  await page.goto(`${site.url}/${owner.organization.slug}/${own.name}/settings`);
  await untilHydrated(page);
  await site.db.delete(project).where(eq(project.id, own.id));
  await page.getByRole("link", { name: "Clients" }).click();
  await page.getByText("This server is gone").waitFor({ timeout: 60_000 });
  await expectAccessible(page);
}, 90_000);

test.runIf(isThorough)(
  "ORG-2 five hundred servers: sixty at a time, arrow keys between rows, the selected one is shown",
  async () => {
    const many = await seededMember(site.url, site.db);
    const { id: organizationId, installationId } = many.organization;
    const servers = Array.from({ length: 500 }, (_, at) => ({
      id: newId(),
      organizationId,
      installationId,
      entrypoint: "echo.py",
      repositoryId: at + 1,
      repositoryFullName: "acme/many",
      rootDirectory: `servers/${at}`,
      name: `server-${String(at).padStart(3, "0")}-${many.organization.slug}`.slice(0, 32),
    }));
    await site.db.insert(project).values(servers);
    const main = { name: "main", isDefault: true };
    await site.db.insert(branch).values(servers.map(({ id }) => ({ ...main, id: newId(), projectId: id })));
    const theirs = await browser.signedInPage(site.url, many);
    await theirs.goto(`${site.url}/${many.organization.slug}/servers`);
    const rows = theirs.getByRole("table", { name: "Servers" }).locator("tbody").getByRole("row");
    await expect.poll(() => rows.count()).toBe(60);
    // A part of the list can't be sorted.
    expect(await theirs.getByRole("columnheader").getByRole("button").count()).toBe(0);
    await untilHydrated(theirs);
    await theirs.getByRole("searchbox").press("ArrowDown");
    await theirs.keyboard.press("ArrowDown");
    const focused = () => theirs.evaluate(() => document.activeElement?.textContent);
    await expect.poll(() => focused()).toContain("server-001");
    await theirs.keyboard.press("End");
    await expect.poll(() => focused()).toContain("server-059");
    await theirs.getByRole("button", { name: "Show 60 more of 500" }).click();
    await expect.poll(() => rows.count()).toBe(120);
    const selected = `server-130-${many.organization.slug}`.slice(0, 32);
    await theirs.goto(`${site.url}/${many.organization.slug}/servers?selected=${selected}`);
    await expect.poll(() => rows.filter({ hasText: selected }).getAttribute("aria-current")).toBe("true");
    await theirs.context().close();
  },
);

test("CAP-7 UI-4 lists work by j, k, o and e, in sight, and not while someone types or has switched single keys off", async () => {
  const own = await seededMember(site.url, site.db);
  const [first, second] = [await seedProject(site.db, own.organization), await seedProject(site.db, own.organization)];
  const theirs = await browser.signedInPage(site.url, own);
  const servers = `${site.url}/${own.organization.slug}/servers`;
  await theirs.goto(servers);
  await untilHydrated(theirs);
  const names = await theirs.locator("[data-row]").allTextContents();
  expect(names.toSorted()).toEqual([first.name, second.name].toSorted());
  const focused = () => theirs.evaluate(() => document.activeElement?.textContent);
  await theirs.keyboard.press("j");
  expect(await focused()).toBe(names[0]);
  expect(await theirs.evaluate(() => document.activeElement?.matches(":focus-visible"))).toBe(true);
  await theirs.keyboard.press("j");
  expect(await focused()).toBe(names[1]);
  // It stays at the ends.
  await theirs.keyboard.press("j");
  expect(await focused()).toBe(names[1]);
  await theirs.keyboard.press("k");
  expect(await focused()).toBe(names[0]);
  await theirs.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await theirs.keyboard.press("e");
  await expect.poll(() => theirs.evaluate(() => navigator.clipboard.readText())).toContain(names[0]);
  await theirs.keyboard.press("/");
  await theirs.keyboard.type("joke");
  await expect.poll(() => theirs.getByRole("searchbox").inputValue()).toBe("joke");
  await theirs.goto(servers);
  await untilHydrated(theirs);
  await theirs.evaluate(() => localStorage.setItem("shortcuts", "off"));
  await theirs.keyboard.press("j");
  expect(await theirs.evaluate(() => document.activeElement?.matches("[data-row]"))).toBe(false);
  await theirs.evaluate(() => localStorage.removeItem("shortcuts"));
  await theirs.keyboard.press("?");
  const help = theirs.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.getByText("Next and previous row").waitFor();
  await theirs.keyboard.press("j");
  expect(await theirs.evaluate(() => document.activeElement?.matches("[data-row]"))).toBe(false);
  await theirs.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  await theirs.keyboard.press("j");
  await theirs.keyboard.press("o");
  await theirs.waitForURL(`${site.url}/${own.organization.slug}/${names[0]}`);
  await theirs.context().close();
});

test.runIf(isThorough)("CAP-7 the builds of a server work by the same keys: e opens a build's menu", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${site.url}/${owner.organization.slug}/${await projectWithBuilds()}/deployments`);
  await untilHydrated(page);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  const entry = page.getByRole("menuitem", { name: "Server log" });
  await entry.waitFor();
  await page.keyboard.press("Escape");
  await entry.waitFor({ state: "detached" });
  await page.keyboard.press("o");
  await page.getByRole("heading", { name: "Answer faster" }).waitFor();
});
