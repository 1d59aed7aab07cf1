import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RepositoryAddress } from "@towpath/core/ports";
import { createGitHub } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAppJwt, git, startTestForge, type TestForge } from "../testing/test-forge.ts";

/* The App client of @towpath/github against the stand-in, which answers like github.com. */

let forge: TestForge;
let work: string;
let installationId: number;
let repositoryId: number;
let address: RepositoryAddress;
let headSha: string;

beforeAll(async () => {
  forge = await startTestForge();
  work = await mkdtemp(join(tmpdir(), "towpath-work-"));
  await forge.admin.ensureAccount({ login: "ada", name: "Ada Lock", email: "ada@example.com" });
  ({ installationId } = await forge.admin.ensureInstallation({ login: "ada" }));
  const { repository, pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "tools", private: true });
  repositoryId = repository.id;
  address = { installationId, owner: "ada", name: "tools" };
  await git(work, "init", "-q", "-b", "main", ".");
  await git(work, "config", "core.quotePath", "false");
  await writeFile(join(work, "server.py"), "mcp = 1\n");
  await git(work, "add", ".");
  await git(work, "commit", "-q", "-m", "First line\n\nBody");
  await git(work, "push", "-q", pushUrl, "main:main", "main:feature/one");
  headSha = (await git(work, "rev-parse", "HEAD")).trim();
});

afterAll(async () => {
  await forge.close();
  await rm(work, { recursive: true, force: true });
});

test("GH-1 app and installation as the App itself", async () => {
  expect(await forge.gitHub.app()).toMatchObject({
    id: 4242,
    slug: "towpath-test",
    permissions: { contents: "write" },
  });
  const installation = await forge.gitHub.installation(installationId);
  expect(installation).toMatchObject({
    id: installationId,
    account: { login: "ada", type: "User" },
    repository_selection: "all",
  });
  expect(installation.html_url).toBe(`${forge.url}/settings/installations/${installationId}`);
  await expect(forge.gitHub.installation(999_999)).rejects.toMatchObject({ code: "not_found" });
});

test("GH-1 an App with another key is refused", async () => {
  const { generateKeyPairSync } = await import("node:crypto");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const stranger = createGitHub({ ...forge.gitHubConfig, privateKey: key });
  await expect(stranger.app()).rejects.toMatchObject({ code: "unauthorized" });
  const asApp = (token: string) => fetch(`${forge.url}/api/v3/app`, { headers: { authorization: `Bearer ${token}` } });
  expect((await asApp(await createAppJwt(forge))).status).toBe(200);
  expect((await asApp(await createAppJwt(forge, { issuer: "1" }))).status).toBe(401);
  expect((await asApp(await createAppJwt(forge, { lifetime: 3600 }))).status).toBe(401);
});

test("GH-1 a user's installations, repositories and profile", async () => {
  const token = await forge.admin.userToken("ada");
  expect(await forge.gitHub.viewer(token)).toMatchObject({ login: "ada", name: "Ada Lock", email: "ada@example.com" });
  expect((await forge.gitHub.userInstallations(token)).map(({ id }) => id)).toEqual([installationId]);
  const { items } = await forge.gitHub.userRepositories(token, installationId);
  expect(items.map(({ full_name }) => full_name)).toContain("ada/tools");
  await expect(forge.gitHub.viewer("forge_u_wrong")).rejects.toMatchObject({ code: "unauthorized" });
});

test("GH-1 somebody else's installation stays out of a user's sight", async () => {
  await forge.admin.ensureAccount({ login: "eve" });
  const token = await forge.admin.userToken("eve");
  expect(await forge.gitHub.userInstallations(token)).toEqual([]);
  await expect(forge.gitHub.userRepositories(token, installationId)).rejects.toMatchObject({ code: "not_found" });
});

test("GH-1 repositories of an installation come in pages", async () => {
  await forge.admin.ensureAccount({ login: "many" });
  const { installationId: many } = await forge.admin.ensureInstallation({ login: "many" });
  await forge.admin.ensureRepository({ owner: "many", name: "first" });
  forge.addRows({ repository: "first", count: 100 });
  const first = await forge.gitHub.repositories(many);
  expect([first.items.length, first.nextPage]).toEqual([100, 2]);
  const second = await forge.gitHub.repositories(many, 2);
  expect([second.items.length, second.nextPage]).toEqual([1, null]);
  const names = [...first.items, ...second.items].map(({ name }) => name);
  expect(new Set(names).size).toBe(101);
});

test("GH-1 one repository, by name and by id", async () => {
  const repository = await forge.gitHub.repository(address);
  expect(repository).toMatchObject({ id: repositoryId, full_name: "ada/tools", private: true, default_branch: "main" });
  expect(await forge.gitHub.repositoryById(installationId, repositoryId)).toEqual(repository);
  await expect(forge.gitHub.repository({ ...address, name: "absent" })).rejects.toMatchObject({ code: "not_found" });
});

test("GH-1 branches with their newest commit", async () => {
  const { items } = await forge.gitHub.branches(address);
  expect(items.map(({ name, commit }) => [name, commit.sha])).toEqual([
    ["feature/one", headSha],
    ["main", headSha],
  ]);
  const branch = await forge.gitHub.branch(address, "feature/one");
  expect(branch.commit).toMatchObject({ sha: headSha, message: "First line\n\nBody", committer: { name: "Ada Lock" } });
  expect(Number.isNaN(Date.parse(branch.commit.committer.date))).toBe(false);
  expect(await forge.gitHub.commit(address, "main")).toMatchObject({ sha: headSha });
  await expect(forge.gitHub.branch(address, "absent")).rejects.toMatchObject({ code: "not_found" });
});

test("GH-1 verifies that a file exists", async () => {
  const at = (path: string, ref = "main") => forge.gitHub.fileExists(address, path, ref);
  expect(await at("server.py")).toBe(true);
  expect(await at("absent.py")).toBe(false);
  expect(await at("server.py", "absent")).toBe(false);
  await expect(at("../server.py")).rejects.toMatchObject({ code: "invalid" });
  expect(await at("server.py", headSha)).toBe(true);
});

test("GH-1 lists files for entrypoint candidates, links left out", async () => {
  const { symlink, mkdir } = await import("node:fs/promises");
  await mkdir(join(work, "src/naïve dir"), { recursive: true });
  await writeFile(join(work, "src/naïve dir/a b.py"), "x = 1\n");
  await symlink("server.py", join(work, "link.py"));
  await git(work, "checkout", "-q", "-b", "more");
  await git(work, "add", ".");
  await git(work, "commit", "-q", "-m", "More");
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "tools" });
  await git(work, "push", "-q", pushUrl, "more");
  const { files, truncated } = await forge.gitHub.listFiles(address, "more");
  expect(files).toEqual([
    { path: "server.py", size: 8 },
    { path: "src/naïve dir/a b.py", size: 6 },
  ]);
  expect(truncated).toBe(false);
  expect(await forge.gitHub.fileExists(address, "src/naïve dir/a b.py", "more")).toBe(true);
  expect(await forge.gitHub.fileExists(address, "src", "more")).toBe(false);
  const read = (path: string) => forge.gitHub.readFile(address, path, "more");
  expect([typeof (await read("src/naïve dir/a b.py")), await read("absent.py")]).toEqual(["string", null]);
  await forge.admin.ensureRepository({ owner: "ada", name: "empty" });
  expect(await forge.gitHub.listFiles({ ...address, name: "empty" }, "main")).toEqual({ files: [], truncated: false });
  expect(await forge.gitHub.fileExists({ ...address, name: "empty" }, "server.py", "main")).toBe(false);
});

test("GH-1 a commit's tarball has one top directory and the commit's files", async () => {
  const stream = await forge.gitHub.tarball({ ...address, repositoryId, sha: headSha });
  const file = join(work, ".git", "tarball.tar.gz");
  await writeFile(file, stream);
  const { execFileSync } = await import("node:child_process");
  const names = execFileSync("tar", ["-tzf", file], { encoding: "utf8" }).trim().split("\n");
  expect(names).toEqual([`ada-tools-${headSha.slice(0, 7)}/`, `ada-tools-${headSha.slice(0, 7)}/server.py`]);
  const absent = forge.gitHub.tarball({ ...address, repositoryId, sha: `${"0".repeat(39)}1` });
  await expect(absent).rejects.toMatchObject({ code: "not_found" });
});

test("GH-2 tokens are narrowed to one repository and the requested permissions", async () => {
  const other = await forge.admin.ensureRepository({ owner: "ada", name: "neighbour" });
  const api = `${forge.url}/api/v3`;
  const make = async (body: unknown) => {
    const headers = { authorization: `Bearer ${await createAppJwt(forge)}` };
    return fetch(`${api}/app/installations/${installationId}/access_tokens`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
  };
  const { token } = (await (
    await make({ repository_ids: [repositoryId], permissions: { metadata: "read" } })
  ).json()) as {
    token: string;
  };
  const status = async (path: string, method = "GET") =>
    (await fetch(api + path, { method, headers: { authorization: `Bearer ${token}` } })).status;
  expect(await status("/repos/ada/tools")).toBe(200);
  expect(await status("/repos/ada/tools/branches")).toBe(403);
  expect(await status("/repos/ada/neighbour")).toBe(404);
  expect(await status(`/repositories/${other.repository.id}`)).toBe(404);
  const listed = await fetch(`${api}/installation/repositories`, { headers: { authorization: `Bearer ${token}` } });
  expect(await listed.json()).toMatchObject({ total_count: 1, repositories: [{ name: "tools" }] });

  const { token: reader } = (await (
    await make({ repository_ids: [repositoryId], permissions: { contents: "read" } })
  ).json()) as { token: string };
  const write = await fetch(`${api}/repos/ada/tools/git/trees`, {
    method: "POST",
    headers: { authorization: `Bearer ${reader}` },
    body: JSON.stringify({ tree: [{ path: "a", content: "a" }] }),
  });
  expect(write.status).toBe(403);
  expect((await make({ repository_ids: [999_999] })).status).toBe(422);
  expect((await make({ permissions: { organization_administration: "write" } })).status).toBe(422);
});

test("GH-1 a GitHub that can't be reached is unavailable, not a crash", async () => {
  const unreachable = createGitHub({ ...forge.gitHubConfig, apiUrl: "http://127.0.0.1:1/api/v3" });
  await expect(unreachable.app()).rejects.toMatchObject({
    code: "unavailable",
    publicText: expect.stringContaining("can't be reached"),
  });
});
