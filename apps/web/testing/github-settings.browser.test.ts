import { auditLog, githubInstallation, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, newPage, openBrowser, signIn } from "./browser.ts";
import { openSiteWithGitHub } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// These tests run in order: each continues where the one before it stopped.

const { site, gitHub } = openSiteWithGitHub();
const browser = openBrowser();
let page: Page;
let owner: Member;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  const context = await browser.newContext();
  await signIn(context, site.url, owner);
  page = await newPage(context);
});

const to = (path: string) => `${site.url}/${owner.organization.slug}/${path}`;
const press = (name: string | RegExp) => page.getByRole("button", { name }).first().click();
const card = (name: string) => page.getByRole("article", { name, exact: true });
const installations = () =>
  site.db.select().from(githubInstallation).where(eq(githubInstallation.organizationId, owner.organization.id));

test("ONB-2 the settings tell an account that GitHub no longer knows from one that is connected there", async () => {
  await page.goto(to("settings/github"));
  const gone = card(`acme-${owner.organization.slug}`);
  await gone.getByText("Removed on GitHub").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Connect an account" }).click();
  await page.waitForURL(`${gitHub.url}/**`);
  await page.locator('input[name="login"]').fill("ada-codes");
  await press(/continue/i);
  await press(/^Install/);
  await press(/^Authorize/);
  await page.waitForURL(to("settings/github"));
  await card("ada-codes").getByText("Connected", { exact: true }).waitFor();
  await expect
    .poll(() => card("ada-codes").getByRole("link", { name: "Manage on GitHub" }).getAttribute("href"))
    .toContain(gitHub.url);
  await card("ada-codes")
    .getByRole("button", { name: /repositories/ })
    .click();
  await card("ada-codes").getByText("No repositories.").waitFor();
  await expectAccessible(page);
});

test("ONB-6 ONB-10 choosing among several accounts; one that isn't connected and a repository that isn't there say so", async () => {
  const own = (await installations()).find(({ accountLogin }) => accountLogin === "ada-codes");
  await page.goto(to(`welcome/choose-repo?installationId=${own?.installationId}`));
  await page.getByText("No repositories yet").waitFor();
  const name = page.getByTestId("proposed-name");
  await expect.poll(() => name.textContent()).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
  const first = await name.textContent();
  await press("Suggest another name");
  await expect.poll(() => name.textContent()).not.toBe(first);
  await expectAccessible(page);

  await page.getByLabel("GitHub account").click();
  await page.getByRole("option", { name: `acme-${owner.organization.slug}` }).click();
  await page.getByText("Couldn't load the repositories").waitFor({ timeout: 30_000 });
  await expect
    .poll(() => new URL(page.url()).searchParams.get("installationId"))
    .toBe(String(owner.organization.installationId));

  await page.goto(to("welcome/choose-repo?installationId=424242"));
  await page.getByText("This GitHub account isn't connected").waitFor();
  await expectAccessible(page);
  await page.goto(to(`welcome/server-deploy?installationId=${own?.installationId}&owner=ada-codes&repo=not-there`));
  await page.getByText("Towpath can't see this repository").waitFor();
  await expectAccessible(page);
  await expect
    .poll(() => page.getByRole("link", { name: "Choose another repository" }).getAttribute("href"))
    .toBe(`/${owner.organization.slug}/welcome/choose-repo`);
});

test("ONB-6 while the repositories load the page says so", async () => {
  const own = (await installations()).find(({ accountLogin }) => accountLogin === "ada-codes");
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/getInstallationRepositories/, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(to(`welcome/choose-repo?installationId=${own?.installationId}`));
  await page.getByText("Loading repositories...").waitFor();
  release();
  await page.getByText("No repositories yet").waitFor();
  await page.unroute(/getInstallationRepositories/);
});

test("ONB-6 a search goes through all pages of repositories", async () => {
  const own = (await installations()).find(({ accountLogin }) => accountLogin === "ada-codes");
  let asked = 0;
  // Like GitHub's answer for an account with 250 repositories; the stand-in has too few.
  await page.route(/getInstallationRepositories/, async (route) => {
    asked += 1;
    const first = (asked - 1) * 100;
    const data = Array.from({ length: asked === 3 ? 50 : 100 }, (_, index) => repository(first + index));
    const body = JSON.stringify({ result: { data, nextPage: asked === 3 ? null : asked + 1 }, context: {} });
    await route.fulfill({ status: 200, contentType: "application/json", body });
  });
  await page.goto(to(`welcome/choose-repo?installationId=${own?.installationId}`));
  await page.getByText("server-7", { exact: true }).waitFor();
  expect(asked).toBe(1);
  await page.getByRole("searchbox").fill("server-249");
  await page.getByText("server-249", { exact: true }).waitFor();
  expect(asked).toBe(3);
  await page.getByRole("searchbox").fill("not among them");
  await page.getByText("No matching repositories").waitFor();
  await page.unroute(/getInstallationRepositories/);
});

const repository = (id: number) => ({
  id: id + 1,
  name: `server-${id}`,
  full_name: `ada-codes/server-${id}`,
  description: null,
  private: false,
  default_branch: "main",
  updated_at: "2026-01-01T00:00:00Z",
  html_url: `https://example.com/${id}`,
  owner: { id: 1, login: "ada-codes" },
});

test("ONB-2 a suspended account says what that means, and disconnecting asks, ends builds and is in the audit log", async () => {
  const own = (await installations()).find(({ accountLogin }) => accountLogin === "ada-codes");
  const installationId = own?.installationId ?? 0;
  await site.db
    .update(githubInstallation)
    .set({ suspendedAt: new Date() })
    .where(eq(githubInstallation.installationId, installationId));
  await page.goto(to(`welcome/choose-repo?installationId=${installationId}`));
  await page.getByText("ada-codes has suspended Towpath").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "GitHub connections" }).click();
  await card("ada-codes").getByRole("button", { name: "Disconnect" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("You can connect it again later.").waitFor();
  await dialog.getByRole("button", { name: "Disconnect" }).click();
  await dialog.getByText("Type ada-codes to confirm.").waitFor();
  await dialog.getByRole("textbox").fill("ada-codes");
  await dialog.getByRole("button", { name: "Disconnect" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(() => card("ada-codes").count()).toBe(0);
  await expect
    .poll(async () => (await installations()).map(({ accountLogin }) => accountLogin))
    .toEqual([`acme-${owner.organization.slug}`]);
  const entries = await site.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.action, "installation.disconnect"))
    .orderBy(auditLog.id);
  expect(entries).toMatchObject([{ organizationId: owner.organization.id, subject: String(installationId) }]);
  await expect.poll(() => site.db.$count(project)).toBe(0);
});

test("ONB-8 ONB-9 /new leads to the next step: install, the only account, or a choice of several", async () => {
  const redirectOf = async (path: string) => {
    const response = await owner.visitor.get(path);
    return [response.status, response.headers.get("location")];
  };
  const { slug, id: organizationId, installationId } = owner.organization;
  expect(await redirectOf("/new?code=abc")).toEqual([307, `/new/select-repo?installationId=${installationId}`]);
  await site.db
    .insert(githubInstallation)
    .values({ organizationId, installationId: 77, accountLogin: "second", accountType: "User" });
  expect(await redirectOf("/new")).toEqual([307, "/new/select-repo"]);
  expect(await redirectOf("/new/select-repo?installationId=77")).toEqual([
    307,
    `/${slug}/welcome/choose-repo?installationId=77`,
  ]);
  const imported = "repoName=ada%2Fecho&installationId=77&isPrivate=true&entrypoint=echo.py";
  const [, location] = await redirectOf(`/new/import-project?${imported}`);
  const target = new URL(String(location), site.url);
  expect([target.pathname, Object.fromEntries(target.searchParams)]).toEqual([
    `/${slug}/welcome/server-deploy`,
    { repoName: "ada/echo", installationId: "77", isPrivate: "true", entrypoint: "echo.py" },
  ]);
  await site.db.delete(githubInstallation).where(eq(githubInstallation.organizationId, organizationId));
  expect(await redirectOf("/new")).toEqual([307, "/new/github-install"]);
  expect(await redirectOf("/new/github-install?problem=expired")).toEqual([
    307,
    `/${slug}/welcome/connect-github?success=false&problem=expired`,
  ]);
});
