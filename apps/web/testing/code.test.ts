import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiKey } from "@towpath/core/tenancy/api-key";
import { testContext } from "@towpath/core/testing";
import { auditLog, gitSource, member, user } from "@towpath/db/schema";
import { type GitServer, git, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { sharedSite } from "./site.ts";
import { type Member, newVisitor, seededMember } from "./visitor.ts";

const site = sharedSite();
const content = {
  "server.py": "import os\n\nmcp = None\n",
  "README.md": "Tools\n",
  "logo.bin": new Uint8Array([0, 1]),
};
let directory: string;
let host: GitServer;
let owner: Member;
let key: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-code-"));
  host = await serveGitRepositories(directory, { takesPushes: true, token: "s3cret" });
  owner = await seededMember(site.url, site.db);
  key = await keyOf(owner, "personal");
  await makeRepository(join(directory, "work"), content);
});
afterAll(async () => {
  await host?.close();
  await rm(directory, { recursive: true, force: true });
});

async function keyOf({ userId, organization }: Member, kind: "personal" | "organization"): Promise<string> {
  const input = { orgSlug: organization.slug, kind, name: "CI", scope: "manage" } as const;
  return (await createApiKey({ ctx: testContext(site.db, { kind: "user", userId, ipAddress: null }), input })).key;
}

async function call(method: string, path: string, body?: unknown, by = key) {
  const response = await newVisitor(site.url).request(`/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, answer: await response.json() };
}

const work = () => join(directory, "work");

/** A server of a repository of this instance, with the content on main and dev. */
async function deployStored(name: string) {
  expect((await call("POST", "/repositories", { name })).status).toBe(200);
  const url = `${site.url.replace("://", `://x:${key}@`)}/git/${owner.organization.slug}/${name}.git`;
  await git(work(), "push", "--quiet", url, "HEAD:main", "HEAD:dev");
  const { status, answer } = await call("POST", `/repositories/${name}/deploy`, { name });
  expect(status).toBe(200);
  return { id: answer.project.id as string, url };
}

test("CAP-5 OPS-4 files of a server's repository are listed, read and searched by REST, for who may push", async () => {
  await deployStored("look-inside");
  const { status, answer } = await call("GET", "/projects/look-inside/code");
  expect([status, answer]).toMatchObject([
    200,
    {
      kind: "repository",
      name: "look-inside",
      branch: "main",
      branches: ["dev", "main"],
      isLive: true,
      commit: { message: "First" },
      paths: ["README.md", "logo.bin", "server.py"],
    },
  ]);
  const at = `branch=main&sha=${answer.commit.sha}`;
  const file = async (path: string) => (await call("GET", `/projects/look-inside/code/file?${at}&path=${path}`)).answer;
  expect(await file("server.py")).toEqual({ kind: "text", text: content["server.py"], bytes: 22 });
  expect(await file("logo.bin")).toEqual({ kind: "binary", text: null, bytes: 2 });
  expect(await file("none.py")).toEqual({ kind: "unreadable", text: null, bytes: null });
  expect((await call("GET", `/projects/look-inside/code/search?${at}&text=MCP`)).answer).toEqual({
    lines: [{ path: "server.py", line: 3, text: "mcp = None" }],
    isComplete: true,
  });
  expect((await call("GET", "/projects/look-inside/code?branch=dev")).answer).toMatchObject({ isLive: false });
  expect(await call("GET", "/projects/look-inside/code?branch=none")).toMatchObject({
    status: 404,
    answer: { error: { message: expect.stringContaining("look-inside has no branch none") } },
  });
  const stranger = await keyOf(await seededMember(site.url, site.db), "organization");
  const reads = ["", `/file?${at}&path=server.py`, `/search?${at}&text=mcp`].map((path) => ["GET", path] as const);
  const change = { branch: "main", sha: answer.commit.sha, message: "No", changes: [{ path: "x", content: "" }] };
  const statuses = async (by: string) => {
    const found = [];
    for (const [method, path, body] of [...reads, ["POST", "/commits", change] as const])
      found.push((await call(method, `/projects/look-inside/code${path}`, body, by)).status);
    return found;
  };
  expect(await statuses(stranger)).toEqual([404, 404, 404, 404]);
  // Of another role, and of nobody's any more.
  const other = await seededMember(site.url, site.db);
  const membership = eq(member.userId, other.userId);
  await site.db.update(member).set({ organizationId: owner.organization.id, role: "owner" }).where(membership);
  const viewer = await keyOf({ ...other, organization: owner.organization }, "personal");
  await site.db.update(member).set({ role: "viewer" }).where(membership);
  expect(await statuses(viewer)).toEqual([403, 403, 403, 403]);
  await site.db.delete(member).where(membership);
  expect((await statuses(viewer)).every((status) => status === 401 || status === 404)).toBe(true);
  for (const text of ["a%0Ab", "a%00b"])
    expect((await call("GET", `/projects/look-inside/code/search?${at}&text=${text}`)).status).toBe(422);
  for (const sha of ["HEAD", "main", "--help", "refs/towpath/x"])
    expect((await call("GET", `/projects/look-inside/code/file?branch=main&sha=${sha}&path=server.py`)).status).toBe(
      422,
    );
});

test("CAP-5 a commit is in the person's name and built at once; what came meanwhile stays, and the same file is refused", async () => {
  const { id, url } = await deployStored("change-inside");
  const { commit } = (await call("GET", "/projects/change-inside/code")).answer;
  const change = (path: string, text: string, more: object = {}) =>
    call("POST", "/projects/change-inside/code/commits", {
      branch: "main",
      sha: commit.sha,
      message: "Change",
      changes: [{ path, content: text }],
      ...more,
    });
  await site.db
    .update(gitSource)
    .set({ nextCheckAt: new Date("2100-01-01") })
    .where(eq(gitSource.projectId, id));
  const first = await change("server.py", "mcp = 1\n");
  expect(first).toMatchObject({ status: 200, answer: { branch: "main", pullRequestUrl: null } });
  const [source] = await site.db.select().from(gitSource).where(eq(gitSource.projectId, id));
  expect(source?.nextCheckAt.getTime()).toBeLessThanOrEqual(Date.now());
  const pushes = and(eq(auditLog.action, "repository.push"), eq(auditLog.subject, "change-inside"));
  expect(await site.db.$count(auditLog, pushes)).toBe(2);

  // Above the limit of other requests.
  expect((await change("large.txt", "x".repeat(1_500_000))).status).toBe(200);
  const second = await change("README.md", "More tools\n");
  expect(second.status).toBe(200);
  expect(await change("server.py", "mcp = 2\n")).toMatchObject({
    status: 409,
    answer: { error: { message: expect.stringMatching(/^server\.py changed in main meanwhile/) } },
  });
  expect((await change("server.py", "mcp = 2\n", { newBranch: "mine" })).answer).toMatchObject({ branch: "mine" });
  expect(await change("server.py", "mcp = 3\n", { newBranch: "mine" })).toMatchObject({ status: 409 });

  await git(work(), "fetch", "--quiet", url, "main");
  const shown = await git(work(), "log", "--format=%H %an %s", "FETCH_HEAD");
  const [person] = await site.db.select({ name: user.name }).from(user).where(eq(user.id, owner.userId));
  expect(shown.split("\n").toSpliced(1, 1).slice(0, 2)).toEqual([
    `${second.answer.commit.sha} ${person?.name} Change`,
    `${first.answer.commit.sha} ${person?.name} Change`,
  ]);
  for (const [more, field] of [
    [{ changes: [] }, "changes"],
    [{ message: " " }, "message"],
    [{ newBranch: "a..b" }, "newBranch"],
    [{ pullRequest: true }, "pullRequest"],
  ] as const) {
    const { status, answer } = await change("server.py", "x", more);
    expect([field, status, Object.keys(answer.error.fields ?? {})]).toEqual([field, 422, [field]]);
  }
});

test.runIf(isThorough)(
  "CAP-5 SRC-2 files behind a Git URL are changed with its credential, which its host may refuse",
  async () => {
    await git(directory, "init", "--quiet", "--bare", "--initial-branch=main", join(directory, "weather.git"));
    await git(work(), "push", "--quiet", join(directory, "weather.git"), "HEAD:main");
    const credential = { kind: "token", token: "s3cret" };
    const body = { name: "weather-code", gitUrl: `${host.url}/weather.git`, credential };
    expect((await call("POST", "/git-urls", body)).status).toBe(200);
    const { answer } = await call("GET", "/projects/weather-code/code");
    expect(answer).toMatchObject({ kind: "git", branch: "main", paths: ["README.md", "logo.bin", "server.py"] });
    const commit = () =>
      call("POST", "/projects/weather-code/code/commits", {
        branch: "main",
        sha: answer.commit.sha,
        message: "Change",
        changes: [{ path: "server.py", content: null }],
      });
    host.set({ takesPushes: false });
    expect(await commit()).toMatchObject({
      status: 409,
      answer: { error: { message: expect.stringContaining("doesn't let this account or credential push") } },
    });
    host.set({ takesPushes: true });
    const { status, answer: made } = await commit();
    expect(status).toBe(200);
    expect(await git(join(directory, "weather.git"), "rev-parse", "main")).toBe(made.commit.sha);
    const entry = and(eq(auditLog.action, "source.commit"), eq(auditLog.subject, "weather-code"));
    expect(await site.db.select({ detail: auditLog.detail }).from(auditLog).where(entry)).toEqual([
      { detail: { branch: "main", sha: made.commit.sha, files: ["server.py"], count: 1 } },
    ]);
  },
);
