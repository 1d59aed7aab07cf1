import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { createAdmin } from "@towpath/github-stand-in";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launchChromium } from "../chromium.ts";
import { operatorPost, operatorToken } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { expectAccessible } from "./accessible.ts";
import { connectGitHub, newVisitor } from "./browser.ts";

// A stranger's fork at GitHub, and its pull request: from the first push to the end of its preview.

const instance = { url: inject("url"), dataDirectory: inject("dataDirectory") };
const [gitHubUrl, serversUrl] = [inject("gitHubUrl"), inject("serversUrl")];
const admin = createAdmin(gitHubUrl);
const server = `forked-${process.pid}`;
const maintainer = `maintainer-${process.pid}`;
const stranger = `mallory-${process.pid}`;
const repository = `${maintainer}/${server}`;
const secret = "a-value-that-no-fork-may-see";
const { pool: database } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 1 });
/** For changes that pass through webhook, queue and worker. */
const soon = { timeout: 45_000 };
let browser: Browser;
let page: Page;
let directory: string;
/** The stranger's at GitHub. */
let token = "";
let deployments: string;
let previewUrl: string;

const git = async (...args: string[]) =>
  (
    await promisify(execFile)("git", ["-c", "user.name=M", "-c", "user.email=m@example.com", ...args], {
      cwd: directory,
    })
  ).stdout.trim();

/** A build hook that searches for secrets and others' packages, and leaves a file in its cache. */
const hook = `
import json, os, zipfile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    cache = os.environ["UV_CACHE_DIR"]
    found = {"environment": dict(os.environ), "left": os.path.exists(os.path.join(cache, "left-by-a-fork"))}
    open(os.path.join(cache, "left-by-a-fork"), "w").close()
    name = "spy-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("spied.py", "found = " + repr(json.dumps(found)))
        wheel.writestr("spy-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: spy\\nVersion: 1\\n")
        wheel.writestr("spy-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("spy-1.dist-info/RECORD", "")
    return name
`;
const hookProject = `[project]
name = "spy"
version = "1"

[build-system]
requires = []
build-backend = "hook"
backend-path = ["."]
`;

const source = (word: string) =>
  plainServer({
    word: `"${word}"`,
    environment: 'json.dumps(dict(__import__("os").environ))',
    spied: '__import__("spied").found',
  });

async function pushToFork(word: string): Promise<string> {
  await writeFile(join(directory, "server.py"), source(word));
  await git("add", ".");
  await git("commit", "--quiet", "--message", `Say ${word}`);
  await git("push", "--quiet", "origin", "HEAD:main");
  return git("rev-parse", "HEAD");
}

/** As the stranger at GitHub. */
async function atGitHub(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${gitHubUrl}/api/v3/repos/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const textOf = async (path: string): Promise<string> => (await atGitHub("GET", `${repository}${path}`)).text;
const checkOf = (commit: string) => textOf(`/commits/${commit}/check-runs`);

async function ask(url: string, name: string): Promise<string | null> {
  const params = { name, arguments: {} };
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  const text = await answer.text();
  return answer.ok ? JSON.parse(text).result.structuredContent.result : null;
}

/** An operation of REST as the operator. */
async function operatorCall(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${await operatorToken(instance)}`, "content-type": "application/json" };
  const answer = await fetch(`${instance.url}/api/v1/${path}`, { method, headers, body: JSON.stringify(body) });
  return (await answer.json()) as Record<string, unknown>;
}

async function waiting(): Promise<readonly Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${await operatorToken(instance)}` };
  const answer = await fetch(`${instance.url}/api/v1/projects/${server}/fork-pull-requests`, { headers });
  return ((await answer.json()) as { data: Record<string, unknown>[] }).data;
}

const buildsOf = async (branch: string): Promise<readonly unknown[]> => {
  const sql = `SELECT build.commit_sha AS commit, build.status FROM build JOIN branch ON branch.id = build.branch_id
    JOIN project ON project.id = build.project_id WHERE project.name = $1 AND branch.name = $2 ORDER BY build.sequence`;
  return (await database.query(sql, [server, branch])).rows;
};

const button = (commit: string) => page.getByRole("button", { name: `Approve and build ${commit.slice(0, 7)} of #1` });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-fork-"));
  browser = await launchChromium();
  ({ page } = await newVisitor(browser));
  await page.goto(`${instance.url}/login`);
  await page.getByLabel("Email").fill(inject("ownerEmail"));
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/(servers|welcome)/);
  const organization = new URL(page.url()).pathname.split("/")[1] ?? "";
  await page.goto(`${instance.url}/${organization}/welcome/connect-github?success=false`);
  await connectGitHub(page, maintainer);
  await deployFirst(organization);
  deployments = `${instance.url}/${organization}/${server}/deployments`;
});

async function deployFirst(organization: string): Promise<void> {
  const { pushUrl } = await admin.ensureRepository({ owner: maintainer, name: server });
  await writeFile(join(directory, "server.py"), plainServer({ word: '"one"' }));
  await writeFile(join(directory, "requirements.txt"), plainRequirements);
  await git("init", "--quiet", "--initial-branch", "main");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Say one");
  await git("push", "--quiet", pushUrl, "HEAD:main");
  const { installationId } = await admin.ensureInstallation({ login: maintainer });
  const variables = [{ keyName: "API_KEY", secretValue: secret }];
  const project = { organization, name: server, installationId, repositoryFullName: repository, variables };
  await operatorPost(instance, "projects", { ...project, authMode: "towpath-public" });
  await operatorCall("PATCH", `projects/${server}`, {
    replay: { tools: ["word"] },
    checkQuestions: { isOn: true, texts: ["Choose a word"] },
  });
  const deadline = Date.now() + 90_000;
  while ((await ask(`${serversUrl}/${server}/mcp`, "word").catch(() => null)) !== "one") {
    if (Date.now() > deadline) throw new Error(`${server} doesn't answer after 90 s`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

afterAll(async () => {
  await browser?.close();
  await database.end();
  await rm(directory, { recursive: true, force: true });
});

test("BLD-9 BLD-8 a fork's pull request waits, and is approved at the commit that was looked at, not at one that was pushed meanwhile", async () => {
  await admin.ensureAccount({ login: stranger });
  token = await admin.userToken(stranger);
  expect((await atGitHub("POST", `${repository}/forks`)).status).toBe(202);
  const { pushUrl } = await admin.ensureRepository({ owner: stranger, name: server });
  await rm(directory, { recursive: true });
  await mkdir(directory);
  await git("clone", "--quiet", pushUrl, ".");
  await mkdir(join(directory, "spy"));
  await writeFile(join(directory, "spy", "pyproject.toml"), hookProject);
  await writeFile(join(directory, "spy", "hook.py"), hook);
  await writeFile(join(directory, "requirements.txt"), `${plainRequirements}./spy\n`);
  const settings = { source: { path: "server.py" }, deployment: { env: { STOLEN: "$" + "{API_KEY}" } } };
  await writeFile(join(directory, "fastmcp.json"), JSON.stringify(settings));
  // The fork's branch is called like that of production.
  const first = await pushToFork("two");
  const pull = { title: "Say two", head: `${stranger}:main`, base: "main" };
  expect((await atGitHub("POST", `${repository}/pulls`, pull)).status).toBe(201);

  await expect.poll(waiting, soon).toMatchObject([{ number: 1, state: "waiting", commitSha: first, author: stranger }]);
  await page.goto(deployments);
  await button(first).waitFor();
  await page.getByText(`${stranger}/${server}`).first().waitFor();
  await expectAccessible(page);
  // This page isn't notified of newer commits.
  const isQuestion = (method: string) => method === "GET";
  await page.route("**/_serverFn/**", (route) =>
    isQuestion(route.request().method()) ? route.abort() : route.fallback(),
  );
  const second = await pushToFork("three");
  await expect.poll(waiting, soon).toMatchObject([{ state: "waiting", commitSha: second }]);
  await button(first).click();
  await page.getByText("Nothing was decided.").waitFor();
  expect(await buildsOf("pull:1")).toEqual([]);
  const data = ["--data-dir", instance.dataDirectory];
  const status = (await towpath("status", server, ...data)).stdout;
  expect(status).toContain(`towpath approve ${server} 1 ${second.slice(0, 7)}`);
  expect((await towpath("list", ...data)).stdout).toContain(
    `1 pull request from a fork waits for approval: towpath approve ${server}`,
  );
  const late = await towpath("approve", server, "1", first.slice(0, 7), "--data-dir", instance.dataDirectory);
  expect([late.status, late.stderr]).toEqual([1, expect.stringContaining(`is ${second.slice(0, 7)}, not`)]);
  await expect.poll(() => checkOf(second), soon).toContain("Waits for approval");

  await page.unroute("**/_serverFn/**");
  await page.goto(deployments);
  await button(second).click();
  const preview = page.getByRole("list", { name: "Previews" }).getByText(serversUrl);
  await preview.waitFor({ timeout: 90_000 });
  previewUrl = await preview.innerText();
  expect(await ask(previewUrl, "word")).toBe("three");
  expect(await buildsOf("pull:1")).toEqual([{ commit: second, status: "succeeded" }]);
  expect(await ask(`${serversUrl}/${server}/mcp`, "word")).toBe("one");
  expect(await buildsOf("main")).toHaveLength(1);
  const reported = new RegExp(`${previewUrl}[^]*Added tool`);
  await expect.poll(() => checkOf(second), soon).toMatch(reported);
  await expect.poll(() => textOf("/issues/1/comments"), soon).toMatch(reported);
  await expect.poll(() => textOf("/deployments"), soon).toContain("preview/pull/1");
});

test("BLD-9 neither the build's hooks nor the server of a fork see variables, and its cache is nobody else's", async () => {
  const [environment, spied] = [await ask(previewUrl, "environment"), await ask(previewUrl, "spied")];
  expect(environment).toContain("TOWPATH_CLOUD_ENVIRONMENT");
  for (const text of [environment, spied]) expect(text).not.toContain(secret);
  expect(JSON.parse(spied ?? "")).toMatchObject({ left: false });
  const caches = join(instance.dataDirectory, "cache", "uv");
  const left: string[] = [];
  for (const owner of await readdir(caches)) {
    if ((await readdir(join(caches, owner))).includes("left-by-a-fork")) left.push(owner);
  }
  const sql =
    "SELECT branch.id FROM branch JOIN project ON project.id = project_id WHERE project.name = $1 AND branch.name = 'pull:1'";
  // Of a branch that is no organization's, a clean-up may have discarded it by now.
  const own = (await database.query(sql, [server])).rows.map(({ id }) => id);
  expect(own).toHaveLength(1);
  expect([own, []]).toContainEqual(left);
});

test.runIf(isThorough)(
  "BLD-9 BLD-7 the next push waits again while the preview stays; closing the pull request ends it",
  async () => {
    const third = await pushToFork("four");
    await expect.poll(waiting, soon).toMatchObject([{ state: "waiting", commitSha: third }]);
    expect(await ask(previewUrl, "word")).toBe("three");
    if (isThorough) await approveInTerminal(third);
    await atGitHub("PATCH", `${repository}/pulls/1`, { state: "closed" });
    await expect.poll(() => ask(previewUrl, "word"), soon).toBeNull();
    expect(await waiting()).toEqual([]);
    await page.goto(deployments);
    await page.getByRole("link", { name: "Say three" }).first().click();
    await page.getByText("This preview has ended").waitFor();
    expect(await page.getByRole("button", { name: /Make live|Rebuild|Promote/ }).count()).toBe(0);
  },
);

test("CAP-4 BLD-8 production's calls are replayed on a branch's pull request, and a model is asked; its check says what became different; on the fork's none were", async () => {
  const replays =
    "SELECT branch.name FROM call_replay JOIN branch ON branch.id = branch_id JOIN project ON project.id = branch.project_id WHERE project.name = $1";
  expect((await database.query(replays, [server])).rows).toEqual([]);
  const sampled =
    "SELECT count(*)::int AS count FROM sampled_call JOIN project ON project.id = project_id WHERE name = $1";
  expect(await ask(`${serversUrl}/${server}/mcp`, "word")).toBe("one");
  await expect.poll(async () => (await database.query(sampled, [server])).rows[0].count, soon).toBe(1);
  const { pushUrl } = await admin.ensureRepository({ owner: maintainer, name: server });
  await git("fetch", "--quiet", pushUrl, "main");
  await git("checkout", "--quiet", "--force", "-B", "topic", "FETCH_HEAD");
  await writeFile(join(directory, "server.py"), plainServer({ word: '"another"', newer: '"two"' }));
  await git("commit", "--quiet", "--all", "--message", "Say another");
  await git("push", "--quiet", pushUrl, "topic");
  const commit = await git("rev-parse", "HEAD");
  token = await admin.userToken(maintainer);
  await atGitHub("POST", `${repository}/pulls`, { title: "Say another", head: "topic", base: "main" });
  await expect
    .poll(() => checkOf(commit), { timeout: 120_000 })
    .toContain("1 call of 1 tool: 1 different. 1 question: 1 with another tool");
  expect(await checkOf(commit)).toContain('"conclusion":"neutral"');
  await expect.poll(() => textOf("/issues/2/comments"), soon).toContain("Replayed calls");
  const shown = await towpath("replay", server, "topic", "--data-dir", instance.dataDirectory);
  const printed = /"?one"?[\s\S]*another[\s\S]*now chooses newer instead of word/;
  expect([shown.status, shown.stdout]).toEqual([1, expect.stringMatching(printed)]);
});

/** A pull request that was declined on the page can be approved later. */
async function approveInTerminal(commit: string): Promise<void> {
  const [short, data] = [commit.slice(0, 7), ["--data-dir", instance.dataDirectory]];
  await page.goto(deployments);
  await page.getByRole("button", { name: `Decline ${short} of #1` }).click();
  await page.getByText("Declined", { exact: true }).waitFor();
  expect((await towpath("approve", server, ...data)).stdout).toContain(`#1 ${short} declined`);
  expect((await towpath("approve", server, "1", short, ...data)).stdout).toContain(`Approved ${short} of #1`);
  await expect.poll(() => ask(previewUrl, "word"), { timeout: 90_000 }).toBe("four");
}
