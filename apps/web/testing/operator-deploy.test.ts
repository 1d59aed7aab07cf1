import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openSiteWithGitHub } from "./site.ts";
import { signedUpVisitor } from "./visitor.ts";

// Deploys a repository at GitHub with the operator's token, step by step, on an instance without accounts.

const { site, gitHub } = openSiteWithGitHub();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-push-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function call(method: "GET" | "POST", path: string, body?: unknown) {
  const response = await fetch(site.url + path, {
    method,
    headers: { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  expect([path, response.status, answer.error]).toEqual([path, 200, undefined]);
  return answer;
}

async function git(...args: string[]): Promise<string> {
  const identity = {
    GIT_AUTHOR_NAME: "T",
    GIT_AUTHOR_EMAIL: "t@example.com",
    GIT_COMMITTER_NAME: "T",
    GIT_COMMITTER_EMAIL: "t@example.com",
  };
  const env = { PATH: process.env.PATH, HOME: directory, GIT_TERMINAL_PROMPT: "0", ...identity };
  return (await promisify(execFile)("git", args, { cwd: directory, env })).stdout.trim();
}

let pushUrl: string;
let installationId: number;

beforeAll(async () => {
  const login = "ada";
  await gitHub.admin.ensureAccount({ login });
  ({ installationId } = await gitHub.admin.ensureInstallation({ login }));
  ({ pushUrl } = await gitHub.admin.ensureRepository({ owner: login, name: "my-server-one" }));
  // The operator's organization is made by the first call that needs one.
  await call("POST", "/api/v1/repositories", { name: "unused" });
  const connect = `INSERT INTO github_installation (installation_id, organization_id, account_login, account_type)
    SELECT $1, id, $2, 'User' FROM organization WHERE slug = 'local'`;
  await site.pool.query(connect, [installationId, login]);
});

const settings = () => ({
  organization: "local",
  name: "my-server-one",
  installationId,
  repositoryFullName: "ada/my-server-one",
  entrypoint: "server.py:mcp",
  authMode: "towpath-public",
});

test("a project of an empty repository has no build", async () => {
  const { project, build } = await call("POST", "/api/v1/projects", settings());
  expect(project).toMatchObject({
    name: "my-server-one",
    authMode: "towpath-public",
    url: "http://localhost:8080/my-server-one/mcp",
  });
  expect(build).toBeNull();
});

test("BLD-12 a real git push reaches the queue through a signed webhook", async () => {
  await git("init", "--quiet", "--initial-branch", "main");
  await writeFile(join(directory, "server.py"), "mcp = None\n");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "First");
  await git("push", "--quiet", pushUrl, "HEAD:main");
  await expect
    .poll(async () => (await site.pool.query("SELECT event FROM webhook_delivery WHERE event = 'push'")).rowCount, {
      timeout: 10_000,
    })
    .toBe(1);
});

test("a build of the pushed commit is created once, and the same call again returns it", async () => {
  const commitSha = await git("rev-parse", "HEAD");
  const path = "/api/v1/projects/my-server-one/builds";
  const { build } = await call("POST", path, { commitSha });
  expect(build).toMatchObject({
    commitSha,
    commitMessage: expect.stringContaining("First"),
    status: "queued",
    trigger: "cli",
  });
  expect((await call("POST", path, { commitSha })).build.id).toBe(build.id);
  expect((await call("POST", path, {})).build.id).toBe(build.id);
  expect(await call("GET", `/api/v1/builds/${build.id}`)).toMatchObject({
    build: { id: build.id },
    url: null,
    diagnosis: null,
  });
});

test.runIf(isThorough)("OPS-4 an unchanged commit is built again only on request", async () => {
  await site.pool.query("UPDATE build SET status = 'failed'");
  const path = "/api/v1/projects/my-server-one/builds";
  const { id } = (await call("POST", path, { reuse: "always" })).build;
  expect(await call("POST", path, { reuse: "always" })).toMatchObject({ created: false, build: { id } });
  const second = await call("POST", path, {});
  expect(second).toMatchObject({ created: true, build: { status: "queued" } });
  const third = await call("POST", path, { reuse: "never" });
  expect(third.created).toBe(true);
  expect(new Set([id, second.build.id, third.build.id]).size).toBe(3);
});

test("OPS-4 deploying again changes only the given settings and creates no second project", async () => {
  const { entrypoint, authMode, ...unchanged } = settings();
  const { project, build } = await call("POST", "/api/v1/projects", { ...unchanged, entrypoint: "other.py" });
  expect([project.entrypoint, project.authMode, build]).toEqual(["other.py", "towpath-public", null]);
  const { project: closed } = await call("POST", "/api/v1/projects", { ...unchanged, authMode: "towpath-cloud" });
  expect([closed.entrypoint, closed.authMode]).toEqual(["other.py", "towpath-cloud"]);
  expect(closed.capturePayloads).toBe(false);
  const { project: captured } = await call("POST", "/api/v1/projects", { ...unchanged, capturePayloads: true });
  expect([captured.capturePayloads, captured.authMode]).toEqual([true, "towpath-cloud"]);
  const { rows } = await site.pool.query("SELECT count(*)::int AS n FROM project");
  expect(rows[0].n).toBe(1);
});

/** The error message of a refused request. */
async function refused(path: string, body: unknown): Promise<string> {
  const response = await fetch(site.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${site.operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  expect([response.status, answer.error?.code]).toEqual([409, "conflict"]);
  return answer.error.message;
}

test("OPS-4 deploying again from another repository is refused", async () => {
  const body = { ...settings(), repositoryFullName: "ada/other-one" };
  expect(await refused("/api/v1/projects", body)).toContain("deploys from the repository");
});

test("the first account to sign up owns what the operator deployed; the second does not", async () => {
  const first = await signedUpVisitor(site.url);
  expect((await first.get("/")).headers.get("location")).toBe("/local");
  expect(await (await first.get("/local/servers")).text()).toContain("my-server-one");
  const second = await signedUpVisitor(site.url);
  expect((await second.get("/")).headers.get("location")).toBe("/welcome/create-organization");
});
