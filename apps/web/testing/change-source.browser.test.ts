import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { auditLog, build, githubInstallation, gitSource, member, project } from "@towpath/db/schema";
import { git, makeRepository } from "@towpath/git/testing";
import { and, desc, eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { openPackageIndex } from "./package-index.ts";
import { openSiteWithGitHub } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

// The second test continues with the first one's server.

const index = openPackageIndex({ "shop-mcp": ["1.10.0", "1.9.0"] });
const { site, gitHub } = openSiteWithGitHub(() => ({ UV_DEFAULT_INDEX: index.url() }));
const browser = openBrowser();
let directory: string;
let installationId: number;
let owner: Member;
let others: Member;
let page: Page;
let key: string;

beforeAll(async () => {
  [owner, others] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  directory = await mkdtemp(join(tmpdir(), "towpath-change-source-"));
  await makeRepository(join(directory, "work"), { "server.py": "mcp = None\n" });
  await gitHub.admin.ensureAccount({ login: "ada" });
  ({ installationId } = await gitHub.admin.ensureInstallation({ login: "ada" }));
  for (const name of ["weather", "river"]) {
    const { pushUrl } = await gitHub.admin.ensureRepository({ owner: "ada", name });
    await git(join(directory, "work"), "push", "--quiet", pushUrl, "HEAD:main", "HEAD:next");
  }
  await gitHub.admin.ensureRepository({ owner: "ada", name: "empty" });
  await site.db
    .insert(githubInstallation)
    .values({ installationId, organizationId: owner.organization.id, accountLogin: "ada", accountType: "User" });
  page = await browser.signedInPage(site.url, owner);
  key = await keyOf(owner);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function keyOf({ userId }: Member): Promise<string> {
  const ctx = testContext(site.db, { kind: "user", userId, ipAddress: null });
  const input = { orgSlug: owner.organization.slug, kind: "personal", name: "rest", scope: "manage" } as const;
  return (await createApiKey({ ctx, input })).key;
}

async function rest(method: string, path: string, body: unknown, by = key) {
  const headers = { authorization: `Bearer ${by}`, "content-type": "application/json" };
  const response = await fetch(`${site.url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, answer: await response.json() };
}

async function stored(name: string) {
  const [found] = await site.db.select().from(project).where(eq(project.name, name));
  const [newest] = await site.db
    .select()
    .from(build)
    .where(eq(build.projectId, found?.id ?? ""))
    .orderBy(desc(build.createdAt))
    .limit(1);
  return { project: found, build: newest };
}

test.runIf(isThorough)(
  "SRC-1 UI-2 a package's server moves to a GitHub repository and back, by keyboard, with the pickers of a new server",
  async () => {
    const name = "moving-server";
    expect((await rest("POST", "/packages", { name, packageName: "shop-mcp" })).status).toBe(200);
    const settings = `${site.url}/${owner.organization.slug}/${name}/settings#source`;
    await page.goto(settings);
    const source = page.locator("#source");
    await source.getByText("shop-mcp").waitFor();
    await source.getByRole("button", { name: "Change source" }).press("Enter");
    const kind = source.getByRole("combobox", { name: "New place of the code" });
    await kind.press("Enter");
    await page.getByRole("option", { name: "A repository on GitHub" }).waitFor();
    // The organization has no repository on this instance.
    expect(await page.getByRole("option").allTextContents()).toEqual([
      "A Git URL",
      "A repository on GitHub",
      "A package",
    ]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const form = source.getByRole("form", { name: "Change source" });
    // An account that no longer exists at GitHub.
    const account = form.getByRole("combobox", { name: "GitHub account" });
    await account.press("Enter");
    await page.getByRole("option", { name: `acme-${owner.organization.slug}` }).click();
    await form.getByText("Couldn't load the repositories").waitFor({ timeout: 30_000 });
    await expectAccessibleInBothThemes(page);
    await account.press("Enter");
    await page.getByRole("option", { name: "ada", exact: true }).click();
    await form.getByRole("button", { name: "Choose weather" }).waitFor();
    await form.getByRole("searchbox", { name: "Search repositories" }).fill("nothing");
    await form.getByText("No matching repositories").waitFor();
    await form.getByRole("searchbox", { name: "Search repositories" }).press("Enter");
    await form.getByRole("searchbox", { name: "Search repositories" }).fill("e");
    await expectAccessibleInBothThemes(page);

    await form.getByRole("button", { name: "Choose empty" }).press("Enter");
    await form.getByRole("button", { name: "Change source and build" }).press("Enter");
    await form.getByText("ada/empty has no commits yet. Push one, then try again.").waitFor();
    await expectAccessibleInBothThemes(page);
    expect((await stored(name)).project).toMatchObject({ packageName: "shop-mcp", repositoryId: null });
    await form.getByRole("button", { name: "Choose another repository" }).press("Enter");
    await form.getByRole("button", { name: "Choose weather" }).press("Enter");
    expect(await form.getByRole("button", { name: "Choose another repository" }).evaluate(isFocused)).toBe(true);
    await form.getByLabel("Branch").fill("nope");
    await page.keyboard.press("Enter");
    await form.getByText("The repository has no branch nope.").waitFor();
    await form.getByLabel("Branch").fill("next");
    await expectAccessibleInBothThemes(page);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/moving-server\/build-logs\//);
    expect(await stored(name)).toMatchObject({
      project: { packageName: null, repositoryFullName: "ada/weather", installationId, defaultBranch: "next" },
      build: { packageVersion: null, status: "queued" },
    });

    await page.goto(settings);
    await source.getByRole("link", { name: "ada/weather" }).waitFor();
    await source.getByText("Pushes to it go live. Other branches get previews.").waitFor();
    const chosen = source.getByRole("combobox", { name: "Branch" });
    expect(await chosen.textContent()).toBe("next");
    await chosen.press("Enter");
    await page.getByRole("option", { name: "The repository's default" }).press("Enter");
    await source.getByText("The repository's default (next)").waitFor();
    expect((await stored(name)).project).toMatchObject({ githubBranch: null });
    const patch = (branch: string) => rest("PATCH", `/projects/${name}/source`, { branch });
    expect(await patch("nope")).toMatchObject({
      status: 422,
      answer: { error: { fields: { branch: "The repository has no branch nope." } } },
    });
    expect(await patch("main")).toMatchObject({ status: 200, answer: { kind: "github", branch: "main" } });
    await page.reload();
    expect(await chosen.textContent()).toBe("main");
    await expectAccessibleInBothThemes(page);
    await source.getByRole("button", { name: "Change source" }).press("Enter");
    await source.getByLabel("Repository's URL").fill("pip install shop-mcp");
    await source.getByRole("button", { name: "Use the package shop-mcp" }).press("Enter");
    await form.getByText("The newest version is 1.10.0.").waitFor();
    await form.getByRole("textbox", { name: "Package" }).fill("nothing-mcp");
    await form.getByText(/There is no package nothing-mcp/).waitFor();
    await form.getByRole("button", { name: "Change source and build" }).waitFor({ state: "detached" });
    await form.getByRole("textbox", { name: "Package" }).fill("shop-mcp");
    await form.getByRole("button", { name: "1.9.0" }).press("Enter");
    await form.getByRole("checkbox", { name: /Deploy new versions/ }).press("Space");
    await form.getByText("Settings that name files of the repository are cleared").waitFor();
    await expectAccessibleInBothThemes(page);
    await form.getByRole("button", { name: "Change source and build" }).press("Enter");
    await page.waitForURL(/\/moving-server\/build-logs\//);
    expect(await stored(name)).toMatchObject({
      project: { packageName: "shop-mcp", followsPackage: true, repositoryFullName: null, installationId: null },
      build: { packageVersion: "1.9.0" },
    });
  },
);

const isFocused = (element: Element) => element === document.activeElement;

test.runIf(isThorough)(
  "SRC-1 ERR-1 over REST: one of four kinds, each answered as it is then read; refusals by field, others find nothing",
  async () => {
    const put = (body: unknown, by?: string) => rest("PUT", "/projects/moving-server/source", body, by);
    const river = { githubRepository: { installationId, fullName: "ada/river" } };
    const both = await put({ ...river, package: { name: "shop-mcp" } });
    expect(both).toMatchObject({
      status: 422,
      answer: { error: { fields: { package: expect.stringMatching(/only one/) } } },
    });
    expect(await put({})).toMatchObject({
      status: 422,
      answer: { error: { fields: { gitUrl: expect.stringMatching(/Name a Git URL/) } } },
    });
    const hidden = await put({ githubRepository: { installationId, fullName: "ada/hidden" } });
    expect(hidden).toMatchObject({
      status: 422,
      answer: { error: { fields: { githubRepository: expect.stringMatching(/no access/) } } },
    });
    const unconnected = await put({ githubRepository: { installationId: 424_242, fullName: "ada/river" } });
    expect(unconnected.answer.error.fields).toHaveProperty("installationId");
    const unknown = await put({ package: { name: "nothing-mcp" } });
    expect(unknown).toMatchObject({
      status: 422,
      answer: { error: { fields: { package: expect.stringMatching(/no package nothing-mcp/) } } },
    });
    expect((await put(river, "twp_nobody")).status).toBe(401);
    const [before] = await site.db.select().from(project).where(eq(project.name, "moving-server"));
    expect(before).toMatchObject({ packageName: "shop-mcp" });

    const moved = await put(river);
    expect(moved).toMatchObject({
      status: 200,
      answer: {
        source: {
          kind: "github",
          fullName: "ada/river",
          branch: null,
          defaultBranch: "main",
          private: expect.any(Boolean),
        },
        build: { status: "queued", packageVersion: null, branch: { name: "main" } },
      },
    });
    const read = await rest("GET", "/projects/moving-server/source", undefined);
    expect(read.answer.source).toEqual(moved.answer.source);
    expect((await rest("POST", "/repositories", { name: "stored" })).status).toBe(200);
    await git(join(directory, "work"), "push", "--quiet", pushUrl("stored"), "HEAD:main");
    // Its clone URL names the same.
    const cloneUrl = `${site.url}/git/${owner.organization.slug}/stored.git`;
    const looked = await rest("POST", "/sources/look", { text: cloneUrl });
    expect(looked).toMatchObject({
      status: 200,
      answer: { url: cloneUrl, branch: "main", entrypoints: ["server.py"] },
    });
    expect((await put({ gitUrl: cloneUrl })).answer.source).toMatchObject({ kind: "repository", name: "stored" });
    const deployed = { name: "clone-server", gitUrl: cloneUrl };
    expect((await rest("POST", "/git-urls", deployed)).answer).toMatchObject({
      created: true,
      project: { source: { kind: "repository", name: "stored" } },
    });
    expect((await rest("POST", "/git-urls", deployed)).answer).toMatchObject({ created: false });
    expect(await put({ repository: "stored" })).toMatchObject({
      status: 200,
      answer: { source: { kind: "repository" } },
    });
    expect(await site.db.$count(gitSource, eq(gitSource.projectId, before?.id ?? ""))).toBe(1);
    const back = await put({ package: { name: "Shop_MCP", follows: true } });
    expect(back).toMatchObject({
      status: 200,
      answer: { source: { kind: "package", name: "shop-mcp", follows: true }, build: { packageVersion: "1.10.0" } },
    });
    expect(await site.db.$count(gitSource, eq(gitSource.projectId, before?.id ?? ""))).toBe(0);
    const audited = await site.db
      .select({ detail: auditLog.detail })
      .from(auditLog)
      .where(and(eq(auditLog.action, "source.change"), eq(auditLog.projectId, before?.id ?? "")))
      .orderBy(desc(auditLog.createdAt));
    expect(audited[0]?.detail).toMatchObject({ from: "stored", to: "shop-mcp", version: "1.10.0", follow: true });

    await site.db.insert(member).values({
      id: crypto.randomUUID(),
      organizationId: owner.organization.id,
      userId: others.userId,
      role: "member",
    });
    const theirs = await keyOf(others);
    const demoted = and(eq(member.userId, others.userId), eq(member.organizationId, owner.organization.id));
    await site.db.update(member).set({ role: "viewer" }).where(demoted);
    expect((await put(river, theirs)).status).toBe(403);
  },
);

const pushUrl = (name: string) =>
  `${site.url.replace("://", `://x:${key}@`)}/git/${owner.organization.slug}/${name}.git`;
