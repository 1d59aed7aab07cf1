import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createApiKey } from "@towpath/core/api-key";
import { seedProject, testContext } from "@towpath/core/testing";
import { auditLog, build } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSiteWithGitHub } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const { site } = openSiteWithGitHub();
let owner: Member;
let others: Member;
let directory: string;

beforeAll(async () => {
  [owner, others] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  directory = await mkdtemp(join(tmpdir(), "towpath-git-"));
  await git("init", "--quiet", "--initial-branch", "main");
  await writeFile(join(directory, "server.py"), `mcp = None\n#${"x".repeat(3 << 20)}\n`);
  await git("add", ".");
  await git("commit", "--quiet", "-m", "First");
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function git(...args: string[]): Promise<string> {
  const who = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "http.postBuffer=67108864"];
  const env = { PATH: process.env.PATH, HOME: directory, GIT_TERMINAL_PROMPT: "0" };
  return (await promisify(execFile)("git", [...who, ...args], { cwd: directory, env })).stdout.trim();
}

async function keyOf(of: Member, more: object = {}) {
  const ctx = testContext(site.db, { kind: "user", userId: of.userId, ipAddress: null });
  const input = { orgSlug: of.organization.slug, kind: "organization", name: "CI", scope: "manage", ...more } as const;
  return createApiKey({ ctx, input });
}

async function post(key: string, path: string, body: unknown) {
  const response = await fetch(`${site.url}/api/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

const withKey = (url: string, key: string) => url.replace("http://", `http://key:${key}@`);
const refs = async (url: string, key: string) =>
  (
    await fetch(`${url}/info/refs?service=git-receive-pack`, {
      headers: { authorization: `Basic ${Buffer.from(`key:${key}`).toString("base64")}` },
    })
  ).status;

test("OPS-4 GH-3 a key pushes a directory through this instance, and the server of that name is built", async () => {
  const { key, id } = await keyOf(owner);
  const { status, answer: target } = await post(key, "/forge-repositories", { name: "brave-teal-otter" });
  expect([status, target.pushUrl]).toEqual([
    200,
    `${site.url}/api/git/${owner.organization.slug}/brave-teal-otter.git`,
  ]);
  // Three megabytes: more than any other request may have.
  await git("push", "--quiet", withKey(target.pushUrl, key), "HEAD:refs/heads/main");
  expect(await git("ls-remote", withKey(target.pushUrl, key), "refs/heads/main")).toContain(
    await git("rev-parse", "HEAD"),
  );
  const { installationId, organization, repository } = target;
  const project = { name: "brave-teal-otter", organization, installationId, repositoryFullName: repository.fullName };
  const { answer } = await post(key, "/projects", project);
  expect(answer).toMatchObject({ project: { name: "brave-teal-otter" }, build: { trigger: "cli", status: "queued" } });
  // On a server that exists: created at first, then changed.
  for (const secretValue of ["hello", "hi"]) {
    const variables = [{ keyName: "GREETING", secretValue }];
    expect((await post(key, "/projects", { ...project, variables })).status).toBe(200);
  }
  const [made] = await site.db.select().from(build).where(eq(build.id, answer.build.id));
  expect(made?.createdByUserId).toBeNull();
  const entries = await site.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.actor, `apiKey:${id}`));
  const actions = new Set(entries.map(({ action }) => action));
  for (const action of ["project.create", "secret.create", "secret.update"]) expect(actions).toContain(action);
});

test("OPS-4 ERR-1 Git is refused to keys that only call, of others, revoked or limited to other servers", async () => {
  const url = `${site.url}/api/git/${owner.organization.slug}/brave-teal-otter.git`;
  const other = await seedProject(site.db, owner.organization);
  const keys = {
    good: (await keyOf(owner)).key,
    calling: (await keyOf(owner, { scope: "call" })).key,
    foreign: (await keyOf(others)).key,
    limited: (await keyOf(owner, { projectIds: [other.id] })).key,
    revoked: await keyOf(owner).then(async ({ id, key }) => {
      await site.pool.query("UPDATE apikey SET enabled = false WHERE id = $1", [id]);
      return key;
    }),
  };
  const statuses = await Promise.all(Object.entries(keys).map(async ([name, key]) => [name, await refs(url, key)]));
  expect(Object.fromEntries(statuses)).toEqual({ good: 200, calling: 403, foreign: 404, limited: 403, revoked: 401 });
  // Another organization can't have the name either.
  expect(await refs(url.replace(owner.organization.slug, others.organization.slug), keys.foreign)).toBe(422);
  const unnamed = await fetch(`${url}/info/refs?service=git-receive-pack`);
  expect([unnamed.status, unnamed.headers.get("www-authenticate")]).toEqual([401, 'Basic realm="towpath"']);
  expect((await fetch(`${url}/config`)).status).toBe(404);
});
