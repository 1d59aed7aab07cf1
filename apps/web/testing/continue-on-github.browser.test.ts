import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { auditLog, build, githubInstallation, project } from "@towpath/db/schema";
import { commitFiles, git, makeRepository } from "@towpath/git/testing";
import { and, eq, like } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { openSiteWithGitHub } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const { site, gitHub } = openSiteWithGitHub();
const browser = openBrowser();
let directory: string;
let owner: Member;
let page: Page;
let key: string;
let acme: number;
let ada: number;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  directory = await mkdtemp(join(tmpdir(), "towpath-continue-"));
  await makeRepository(work(), { "server.py": "mcp = None\n" });
  await commitFiles(work(), { "server.py": "mcp = 1\n" });
  await git(work(), "tag", "v1", "HEAD~1");
  const ctx = testContext(site.db, { kind: "user", userId: owner.userId, ipAddress: null });
  const input = { orgSlug: owner.organization.slug, kind: "personal", name: "rest", scope: "manage" } as const;
  key = (await createApiKey({ ctx, input })).key;
  await site.db.delete(githubInstallation).where(eq(githubInstallation.organizationId, owner.organization.id));
  page = await browser.signedInPage(site.url, owner);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const work = () => join(directory, "work");

async function rest(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(`${site.url}/api/v1${path}`, init);
  return { status: response.status, answer: await response.json() };
}

const pushUrl = (name: string) =>
  `${site.url.replace("://", `://x:${key}@`)}/git/${owner.organization.slug}/${name}.git`;
const server = (name: string) => `${name}-${owner.organization.slug.slice(-6)}`;

/** A repository of the instance with two branches, a tag and servers. */
async function makeStored(name: string, ...servers: readonly string[]) {
  expect((await rest("POST", "/repositories", { name })).status).toBe(200);
  await git(work(), "push", "--quiet", pushUrl(name), "main", "HEAD~1:refs/heads/fix/a", "v1");
  for (const each of servers)
    expect((await rest("POST", `/repositories/${name}/deploy`, { name: server(each) })).status).toBe(200);
}

async function connect(login: string, accountType: "User" | "Organization"): Promise<number> {
  await gitHub.admin.ensureAccount({ login, type: accountType });
  const { installationId } = await gitHub.admin.ensureInstallation({ login });
  const row = { installationId, organizationId: owner.organization.id, accountLogin: login, accountType };
  await site.db.insert(githubInstallation).values(row);
  return installationId;
}

/** Both accounts, unless they are. */
async function connectAccounts(): Promise<void> {
  acme ??= await connect("acme", "Organization");
  ada ??= await connect("ada", "User");
}

const refsAt = async (owner: string, name: string) => {
  const { pushUrl } = await gitHub.admin.ensureRepository({ owner, name });
  const text = await git(work(), "ls-remote", pushUrl, "refs/heads/*", "refs/tags/*");
  return text.split("\n").map((line) => line.split("\t")[1]);
};
const everything = ["refs/heads/fix/a", "refs/heads/main", "refs/tags/v1"];

const rowsOf = (...names: readonly string[]) =>
  Promise.all(
    names.map(
      async (name) =>
        (
          await site.db
            .select()
            .from(project)
            .where(eq(project.name, server(name)))
        )[0],
    ),
  );

test.runIf(isThorough)(
  "SRC-3 UI-2 a repository moves to a person's account by keyboard: through GitHub, past a refusal, with all of its servers",
  async () => {
    await makeStored("weather", "weather", "storms");
    await page.goto(`${site.url}/${owner.organization.slug}/${server("weather")}`);
    await page.locator("#change").getByRole("link", { name: "Continue on GitHub" }).press("Enter");
    await page.waitForURL(/\/settings#source$/);
    const section = page.getByRole("region", { name: "Continue on GitHub" });
    await section.getByRole("button", { name: "Continue on GitHub" }).press("Enter");
    await section.getByText("No GitHub account is connected").waitFor();
    expect(await section.getByRole("link", { name: "Connect GitHub" }).getAttribute("href")).toBe(
      `/${owner.organization.slug}/settings/github`,
    );
    await expectAccessibleInBothThemes(page);

    await connectAccounts();
    await page.reload();
    await section.getByRole("button", { name: "Continue on GitHub" }).press("Enter");
    const form = section.getByRole("form", { name: "Continue on GitHub" });
    await form.getByRole("combobox", { name: "GitHub account" }).press("Enter");
    await page.getByRole("option", { name: "ada" }).click();
    expect(await form.getByLabel("Name on GitHub").inputValue()).toBe("weather");
    await form.getByLabel("Name on GitHub").fill("a b");
    await form.getByRole("button", { name: "Move to GitHub" }).press("Enter");
    await form.getByText("contains only letters, numbers").waitFor();
    await form.getByText(new RegExp(`The servers ${server("storms")}, ${server("weather")} are built`)).waitFor();
    await expectAccessibleInBothThemes(page);
    await form.getByLabel("Name on GitHub").fill("rainy-weather");
    await form.getByRole("combobox", { name: "Who can see it" }).press("Enter");
    await page.getByRole("option", { name: "Public" }).click();
    await form.getByText("Everyone, with all of its history.").waitFor();

    // GitHub asks ada, and the form is as it was.
    await page.context().request.post(`${gitHub.url}/login`, { form: { existing: "ada", return_to: "/" } });
    await form.getByRole("button", { name: "Move to GitHub" }).press("Enter");
    await page.getByRole("button", { name: /^Authorize/ }).click();
    await form.getByText("You signed in to GitHub as ada.").waitFor();
    expect(await form.getByLabel("Name on GitHub").inputValue()).toBe("rainy-weather");
    expect(await form.getByRole("combobox", { name: "Who can see it" }).textContent()).toContain("Public");
    await expectAccessibleInBothThemes(page);
    await gitHub.setPushRule('echo "error: GH013: Push cannot contain secrets." >&2\nexit 1');
    await form.getByRole("button", { name: "Move to GitHub" }).press("Enter");
    await form.getByText("The repository was not moved").waitFor();
    await form.getByText(/GH013: Push cannot contain secrets.*Revoke the secret/).waitFor();
    await expectAccessibleInBothThemes(page);
    for (const row of await rowsOf("weather", "storms")) expect(row).toMatchObject({ installationId: null });

    await gitHub.setPushRule(null);
    const builds = await site.db.$count(build);
    await form.getByRole("button", { name: "Move to GitHub" }).press("Enter");
    const source = page.locator("#source");
    await source.getByText("The repository continues as ada/rainy-weather").waitFor();
    await source.getByText(`git remote set-url origin ${gitHub.url}/ada/rainy-weather.git`).waitFor();
    await source.getByRole("link", { name: "ada/rainy-weather" }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain("continues as");
    await expectAccessibleInBothThemes(page);
    expect(await refsAt("ada", "rainy-weather")).toEqual(everything);
    for (const row of await rowsOf("weather", "storms"))
      expect(row).toMatchObject({
        installationId: ada,
        repositoryFullName: "ada/rainy-weather",
        repositoryPrivate: false,
      });
    expect(await site.db.$count(build)).toBe(builds);

    // Git shows where to push.
    const refused = await git(work(), "push", pushUrl("weather"), "main").catch((error) => String(error.stderr));
    expect(refused).toContain(`git remote set-url origin ${gitHub.url}/ada/rainy-weather.git`);
    expect(await git(work(), "ls-remote", pushUrl("weather"), "main")).toContain("refs/heads/main");
  },
  300_000,
);

test("SRC-3 ERR-1 over REST, to an organization as the App; a person's account needs an empty repository; refusals by field", async () => {
  await connectAccounts();
  await makeStored("rain", "rain");
  const move = (body: object) => rest("POST", "/repositories/rain/continue", body);
  const byHand = await move({ installationId: ada });
  expect([byHand.status, byHand.answer.error.message]).toEqual([
    409,
    expect.stringContaining(`${gitHub.url}/new?owner=ada&name=rain&visibility=private`),
  ]);
  await gitHub.admin.ensureRepository({ owner: "acme", name: "open", private: false });
  const refusals: readonly (readonly [object, field: string, text: RegExp])[] = [
    [{ installationId: 424_242 }, "installationId", /not connected/],
    [{ installationId: acme, gitHubName: "open" }, "private", /acme\/open is public/],
    [{ installationId: acme, gitHubName: "../x" }, "gitHubName", /only letters/],
  ];
  for (const [body, field, text] of refusals)
    expect(await move(body)).toMatchObject({
      status: 422,
      answer: { error: { fields: { [field]: expect.stringMatching(text) } } },
    });
  // The connection breaks while the commits are on their way.
  await gitHub.setPushRule("kill -9 $PPID");
  expect((await move({ installationId: acme })).status).toBe(502);
  await gitHub.setPushRule(null);
  expect((await rowsOf("rain"))[0]).toMatchObject({ installationId: null });
  const moved = await move({ installationId: acme });
  expect(moved).toMatchObject({
    status: 200,
    answer: {
      servers: [server("rain")],
      repository: {
        name: "rain",
        servers: [],
        continued: { fullName: "acme/rain", url: `${gitHub.url}/acme/rain.git` },
      },
    },
  });
  expect(await refsAt("acme", "rain")).toEqual(everything);
  expect((await move({ installationId: acme })).answer.error.message).toContain("already, as acme/rain");
  const read = await rest("GET", `/projects/${server("rain")}/source`);
  expect(read.answer.source).toMatchObject({ kind: "github", fullName: "acme/rain", private: true });

  await makeStored("snow", "snow");
  await gitHub.admin.ensureRepository({ owner: "ada", name: "snow", private: true });
  expect((await rest("POST", "/repositories/snow/continue", { installationId: ada })).status).toBe(200);
  expect(await refsAt("ada", "snow")).toEqual(everything);
  const actions = await site.db
    .select({ action: auditLog.action, detail: auditLog.detail })
    .from(auditLog)
    .where(and(eq(auditLog.organizationId, owner.organization.id), like(auditLog.action, "repository.%")))
    .orderBy(auditLog.id);
  const details = (action: string) => actions.filter((each) => each.action === action).map(({ detail }) => detail);
  expect(details("repository.continue").slice(-2)).toMatchObject([
    { to: "acme/rain", private: true, servers: [server("rain")] },
    { to: "ada/snow", private: true, servers: [server("snow")] },
  ]);
  // Which repository was made or found there, before anything went to it.
  expect(details("repository.target").slice(-2)).toMatchObject([
    { to: "acme/rain", how: "made", private: true },
    { to: "ada/snow", how: "found", private: true },
  ]);
  expect(JSON.stringify(actions) + site.output()).not.toMatch(/forge_[iu]_/);
});
