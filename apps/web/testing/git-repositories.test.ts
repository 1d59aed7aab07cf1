import { exec, execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createApiKey, revokeApiKey } from "@towpath/core/tenancy/api-key";
import { updateOrganization } from "@towpath/core/tenancy/organization";
import { seedProject, testContext } from "@towpath/core/testing";
import { auditLog, build, gitSource, member } from "@towpath/db/schema";
import { gitEnvironment } from "@towpath/git";
import { commitFiles, git, makeRepository, makeZip } from "@towpath/git/testing";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { sharedSite } from "./site.ts";
import { answerOf, callServerFunction, type Member, newVisitor, seededMember } from "./visitor.ts";

const site = sharedSite();
let owner: Member;
let others: Member;
let directory: string;
let key: string;

beforeAll(async () => {
  [owner, others] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  directory = await mkdtemp(join(tmpdir(), "towpath-git-repositories-"));
  await makeRepository(join(directory, "work"), { "server.py": `mcp = None\n#${"x".repeat(3 << 20)}\n` });
  key = (await keyOf(owner)).key;
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const work = (name = "work") => join(directory, name);
const as = ({ userId }: Member) => testContext(site.db, { kind: "user", userId, ipAddress: null });
async function keyOf(of: Member, more: object = {}) {
  const input = { orgSlug: of.organization.slug, kind: "personal", name: "git", scope: "manage", ...more } as const;
  return createApiKey({ ctx: as(of), input });
}

async function call(by: string, method: string, path: string, body?: unknown) {
  const response = await newVisitor(site.url).request(`/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, answer: await response.json() };
}

const urlOf = (name: string, of = owner) => `${site.url}/git/${of.organization.slug}/${name}.git`;
const withKey = (url: string, by: string) => url.replace("://", `://anybody:${by}@`);
const refusal = (ran: Promise<unknown>) =>
  ran.then(
    () => "accepted",
    (error: { stderr?: string }) => error.stderr ?? String(error),
  );
const builds = (projectId: string) => site.db.select().from(build).where(eq(build.projectId, projectId));

test("SRC-3 a repository is made, pushed to, cloned and deployed with a key; a push is noticed at once", async () => {
  const made = await call(key, "POST", "/repositories", { name: "weather" });
  expect(made).toMatchObject({
    status: 200,
    answer: { name: "weather", url: urlOf("weather"), madeBy: "push", servers: [] },
  });
  expect((await call(key, "POST", "/repositories", { name: "weather" })).answer.error.fields.name).toContain("already");
  expect(
    (await call(key, "POST", "/repositories/weather/deploy", { name: "weather-one" })).answer.error.fields,
  ).toEqual({
    repository: expect.stringContaining("no commits yet"),
  });
  // Three megabytes, in chunks.
  await git(work(), "push", "--quiet", withKey(urlOf("weather"), key), "main");
  await git(directory, "clone", "--quiet", withKey(urlOf("weather"), key), "clone");
  expect(await git(work("clone"), "rev-parse", "HEAD")).toBe(await git(work(), "rev-parse", "HEAD"));
  const deployed = await call(key, "POST", "/repositories/weather/deploy", { name: "weather-one" });
  expect(deployed).toMatchObject({
    status: 200,
    answer: { created: true, project: { source: { kind: "repository", name: "weather", url: urlOf("weather") } } },
  });
  const { id } = deployed.answer.project;
  const again = await call(key, "POST", "/repositories/weather/deploy", { name: "weather-one" });
  expect(again.answer).toMatchObject({ created: false, build: { id: deployed.answer.build.id } });

  await commitFiles(work("clone"), { "server.py": "mcp = 2\n" });
  const before = Date.now();
  await git(work("clone"), "push", "--quiet", "origin", "main", "HEAD:refs/heads/fix");
  const [source] = await site.db.select().from(gitSource).where(eq(gitSource.projectId, id));
  expect(source?.nextCheckAt.getTime()).toBeGreaterThanOrEqual(before);
  expect(source?.nextCheckAt.getTime()).toBeLessThanOrEqual(Date.now());
  const jobs = await site.pool.query("SELECT data FROM pgboss.job WHERE name = 'source.check' AND state = 'created'");
  expect(jobs.rows.map(({ data }) => JSON.stringify(data)).join()).toContain(id);
  const [entry] = await site.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.action, "repository.push"), eq(auditLog.organizationId, owner.organization.id)))
    .orderBy(auditLog.createdAt)
    .then((rows) => rows.slice(-1));
  expect(entry).toMatchObject({ subject: "weather", detail: { refs: ["fix", "main"], count: 2 } });
  expect(await builds(id)).toHaveLength(1);
  expect((await call(key, "GET", "/repositories")).answer.data).toMatchObject([{ servers: [{ name: "weather-one" }] }]);

  const remove = () => call(key, "DELETE", "/repositories/weather", { confirmation: "weather" });
  expect(await remove()).toMatchObject({
    status: 409,
    answer: { error: { message: expect.stringContaining("weather-one") } },
  });
  expect((await call(key, "DELETE", "/projects/weather-one")).status).toBe(200);
  expect((await remove()).status).toBe(200);
  expect(await refusal(git(directory, "clone", withKey(urlOf("weather"), key), "gone"))).toMatch(/not found/);
}, 60_000);

test("SRC-3 ERR-1 people with no, a wrong, a revoked or a lesser key, and strangers, get a text that git prints", async () => {
  await call(key, "POST", "/repositories", { name: "closed" });
  await git(work(), "push", "--quiet", withKey(urlOf("closed"), key), "main");
  const clone = (by: string, name = "closed") => refusal(git(directory, "clone", withKey(urlOf(name), by), "nowhere"));
  const push = (by: string) => refusal(git(work(), "push", withKey(urlOf("closed"), by), "main:other"));
  const bare = await fetch(`${urlOf("closed")}/info/refs?service=git-upload-pack`);
  expect([bare.status, bare.headers.get("www-authenticate")]).toEqual([401, 'Basic realm="Towpath"']);
  expect(await bare.text()).toMatch(/API key .*Settings → API keys/);
  expect(await clone(`${key}x`)).toMatch(/remote: This API key doesn't exist[\s\S]*Authentication failed/);
  const revoked = await keyOf(owner);
  await revokeApiKey({ ctx: as(owner), input: { orgSlug: owner.organization.slug, keyId: revoked.id } });
  expect(await clone(revoked.key)).toMatch(/remote: This API key .*was revoked/);
  expect(await clone((await keyOf(owner, { scope: "call" })).key)).toMatch(
    /remote: Forbidden: this API key may only call/,
  );

  // Others can't tell existing repositories from unknown ones.
  const stranger = (await keyOf(others)).key;
  const [known, unknown] = [await clone(stranger), await clone(stranger, "unknown")];
  expect(known).toMatch(/repository '.*' not found/);
  expect(known.replaceAll("closed", "unknown")).toBe(unknown);
  expect(await push(stranger)).toMatch(/not found/);
  const elsewhere = await seedProject(site.db, owner.organization);
  const limited = (await keyOf(owner, { projectIds: [elsewhere.id] })).key;
  expect(await clone(limited)).toMatch(/not found/);

  // Their role has changed since the key was made.
  const reader = await seededMember(site.url, site.db);
  const { organization } = owner;
  await site.db
    .insert(member)
    .values({ id: crypto.randomUUID(), organizationId: organization.id, userId: reader.userId, role: "member" });
  const readers = await createApiKey({
    ctx: as(reader),
    input: { orgSlug: organization.slug, kind: "personal", name: "git", scope: "manage" },
  });
  expect(await push(readers.key)).toBe("accepted");
  await site.db
    .update(member)
    .set({ role: "viewer" })
    .where(and(eq(member.userId, reader.userId), eq(member.organizationId, organization.id)));
  await git(directory, "clone", "--quiet", withKey(urlOf("closed"), readers.key), "read");
  expect(await push(readers.key)).toMatch(/remote: Forbidden: your role .*may not push/);

  // A session is no credential here, so that no page can have a browser push.
  const signedIn = await owner.visitor.get(`/git/${organization.slug}/closed.git/info/refs?service=git-upload-pack`);
  expect(signedIn.status).toBe(401);
  for (const path of ["/config", "/HEAD", "/objects/info/packs", "/info/refs"])
    expect([path, (await fetch(`${urlOf("closed")}${path}`)).status]).toEqual([path, 404]);
  const chunked = await fetch(`${urlOf("closed")}/git-upload-pack`, {
    method: "POST",
    body: new Blob(["x"]).stream(),
    duplex: "half",
  } as RequestInit);
  expect(chunked.status).toBe(401);
}, 60_000);

test.runIf(isThorough)(
  "SRC-3 the commands that the page shows work as they are, with a key that ends and is stored nowhere",
  async () => {
    const { organization } = owner;
    await call(key, "POST", "/repositories", { name: "copied" });
    const make = (who: Member) =>
      callServerFunction(who.visitor, "source.makeGitCredential", "POST", {
        orgSlug: organization.slug,
        name: "copied",
      });
    const made = (await answerOf(make(owner))) as { commands: { clone: string; push: string }; password: string };
    const shell = (command: string, cwd: string) =>
      promisify(exec)(command, {
        cwd,
        env: { ...gitEnvironment(cwd), GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.c" },
      });
    await shell(made.commands.push, work());
    await shell(made.commands.clone, directory);
    expect(await git(work("copied"), "rev-parse", "HEAD")).toBe(await git(work(), "rev-parse", "HEAD"));
    const { stdout } = await promisify(execFile)("grep", ["-rc", made.password, work("copied/.git/config")]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout.trim()).toBe("0");
    const { rows } = await site.pool.query<{ name: string; hours: string }>(
      "SELECT name, extract(epoch FROM expires_at - now()) / 3600 AS hours FROM apikey WHERE name LIKE 'git push%'",
    );
    expect(rows).toMatchObject([{ name: "git push to copied" }]);
    expect(Number(rows[0]?.hours)).toBeGreaterThan(7.9);
    expect(Number(rows[0]?.hours)).toBeLessThanOrEqual(8);
    expect((await make(others)).status).toBe(403);
  },
  60_000,
);

test.runIf(isThorough)(
  "SRC-3 OPS-4 an archive becomes a commit by REST; hostile ones are refused with the reason",
  async () => {
    await call(key, "POST", "/repositories", { name: "uploads" });
    const upload = async (bytes: Uint8Array, query = "", by = key) => {
      const response = await fetch(`${site.url}/api/v1/repositories/uploads/commits${query}`, {
        method: "POST",
        headers: { authorization: `Bearer ${by}`, "content-type": "application/zip" },
        body: Buffer.from(bytes),
      });
      return { status: response.status, answer: await response.json() };
    };
    const zip = (content: string) => makeZip([{ name: "echo/server.py", content }]);
    const first = await upload(zip("one"), "?message=First&expectedHead=");
    expect(first).toMatchObject({
      status: 200,
      answer: { branch: "main", changed: true, commit: { message: "First" } },
    });
    expect((await upload(zip("one"))).answer).toMatchObject({ changed: false, commit: first.answer.commit });
    expect((await upload(zip("two"), "?expectedHead=")).status).toBe(409);
    const next = await upload(zip("x".repeat(5 << 20)), `?branch=fix&message=Two`);
    expect(next).toMatchObject({ status: 200, answer: { branch: "fix" } });
    expect(await upload(makeZip([{ name: "../x", content: "y" }]))).toMatchObject({
      status: 422,
      answer: { error: { code: "invalid_input", fields: { archive: expect.stringContaining("leads out") } } },
    });
    expect((await upload(zip("two"), "", (await keyOf(others)).key)).status).toBe(404);
    expect((await upload(zip("two"), "?unknown=1")).status).toBe(400);
  },
);

test.runIf(isThorough)(
  "SRC-3 git continues at the new address once the organization is renamed, with any source of the key; others find nothing",
  async () => {
    const renamed = await seededMember(site.url, site.db);
    const by = (await keyOf(renamed)).key;
    await call(by, "POST", "/repositories", { name: "moving" });
    const [before, { slug: former }] = [urlOf("moving", renamed), renamed.organization];
    await git(work(), "push", "--quiet", withKey(before, by), "main");
    await git(directory, "clone", "--quiet", withKey(before, by), "moving");
    const slug = `renamed-${former}`.slice(0, 40);
    const deploy = () => call(by, "POST", "/git-urls", { name: "moving-server", gitUrl: before });
    expect((await deploy()).answer).toMatchObject({ created: true });
    await updateOrganization({ ctx: as(renamed), input: { orgSlug: former, slug } });
    expect((await deploy()).answer).toMatchObject({ created: false, project: { source: { name: "moving" } } });
    const after = before.replace(former, slug);
    expect((await call(by, "GET", "/repositories/moving")).answer.url).toBe(after);

    const run = (cwd: string, ...args: string[]) =>
      promisify(execFile)("git", args, { cwd, env: { ...gitEnvironment(cwd), LC_ALL: "C" } });
    const basic = Buffer.from(`towpath:${by}`).toString("base64");
    const header = ["-c", `http.${site.url}/.extraHeader=Authorization: Basic ${basic}`];
    const helper = ["-c", `credential.helper=!f() { echo username=towpath; echo password=${by}; }; f`];
    await commitFiles(work("moving"), { "server.py": "mcp = 2\n" });
    for (const [name, from, options] of [
      ["by-url", withKey(before, by), []],
      ["by-header", before, header],
      ["by-helper", before, helper],
    ] as const) {
      const cloned = await run(directory, ...options, "clone", from, name);
      // Git doesn't print the redirect if it had to ask for the key first.
      const redirect = name === "by-helper" ? "" : `redirecting to ${after}/`;
      expect(cloned.stderr).toContain(redirect);
      const pushed = await run(
        work("moving"),
        ...options,
        "push",
        from,
        "HEAD:refs/heads/main",
        "HEAD:refs/heads/other",
      );
      expect(pushed.stderr).toContain(redirect);
      expect(await git(work("moving"), "ls-remote", withKey(after, by), "main")).toContain(
        await git(work("moving"), "rev-parse", "HEAD"),
      );
      await commitFiles(work("moving"), { "server.py": `mcp = "${name}"\n` });
    }
    const alone = ["-c", "http.followRedirects=false"];
    expect(await refusal(run(directory, ...header, ...alone, "clone", before, "alone"))).toMatch(/error: 301/);
    expect(await refusal(run(directory, "clone", withKey(before, key), "foreign"))).toMatch(/not found/);
    // Whoever takes the old address gets it, and the former organization's repositories stay reachable.
    await updateOrganization({ ctx: as(others), input: { orgSlug: others.organization.slug, slug: former } });
    const theirs = (await keyOf({ ...others, organization: { ...others.organization, slug: former } })).key;
    expect(await refusal(run(directory, "clone", withKey(before, theirs), "taken"))).toMatch(/not found/);
    expect((await run(directory, "ls-remote", withKey(before, by))).stderr).toContain(`redirecting to ${after}/`);
  },
  60_000,
);
