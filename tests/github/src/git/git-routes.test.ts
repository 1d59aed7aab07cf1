import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createAppJwt, git, gitHeaders, startTestForge, type TestForge } from "../testing/test-forge.ts";

let forge: TestForge;
let work: string;

beforeAll(async () => {
  forge = await startTestForge();
  work = await mkdtemp(join(tmpdir(), "towpath-work-"));
  await forge.admin.ensureAccount({ login: "ada", name: "Ada Lock" });
  await forge.admin.ensureAccount({ login: "bob" });
  await forge.admin.ensureInstallation({ login: "ada" });
});

afterAll(async () => {
  await forge.close();
  await rm(work, { recursive: true, force: true });
});

async function localRepository(name: string, branch = "main"): Promise<string> {
  const directory = join(work, name);
  await git(work, "init", "-q", "-b", branch, directory);
  await writeFile(join(directory, "server.py"), "print('hello')\n");
  await git(directory, "add", ".");
  await git(directory, "commit", "-q", "-m", "First");
  return directory;
}

test("GH-3 a local repository is pushed, cloned and fetched with real git", async () => {
  const { pushUrl, cloneUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "first" });
  const local = await localRepository("first");
  await git(local, "remote", "add", "towpath", pushUrl);
  await git(local, "push", "-q", "-u", "towpath", "main");
  const clone = join(work, "first-clone");
  await git(work, "clone", "-q", cloneUrl, clone);
  expect(await readFile(join(clone, "server.py"), "utf8")).toBe("print('hello')\n");

  await writeFile(join(local, "server.py"), "print('again')\n");
  await git(local, "commit", "-q", "-a", "-m", "Second");
  await git(local, "push", "-q");
  await git(clone, "pull", "-q");
  expect(await readFile(join(clone, "server.py"), "utf8")).toBe("print('again')\n");
});

test("GH-3 large transfers work: a chunked push, a request that git compresses", async () => {
  const { pushUrl, cloneUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "large" });
  const local = await localRepository("large");
  // Random bytes do not compress; over http.postBuffer (1 MB) git sends the pack chunked.
  const bytes = Buffer.from(Array.from({ length: 3_000_000 }, () => Math.floor(Math.random() * 256)));
  await writeFile(join(local, "data.bin"), bytes);
  await git(local, "add", ".");
  await git(local, "commit", "-q", "-m", "Large");
  // Many refs make the clone's request long enough for git to gzip it.
  for (let count = 0; count < 60; count += 1) {
    await git(local, "commit", "-q", "--allow-empty", "-m", `Commit ${count}`);
    await git(local, "branch", `branch-${count}`);
  }
  expect(await gitHeaders(local, "push", "-q", pushUrl, "--all")).toContain("transfer-encoding: chunked");
  const clone = join(work, "large-clone");
  const cloning = ["clone", "-q", "-c", "protocol.version=0", cloneUrl, clone];
  expect(await gitHeaders(work, ...cloning)).toContain("content-encoding: gzip");
  await git(local, "commit", "-q", "--allow-empty", "-m", "After");
  await git(local, "push", "-q", pushUrl, "main");
  await git(clone, "fetch", "-q");
  expect((await readFile(join(clone, "data.bin"))).equals(bytes)).toBe(true);
  expect((await git(clone, "rev-parse", "origin/main")).trim()).toBe((await git(local, "rev-parse", "main")).trim());
}, 60_000);

test("GH-3 the first pushed branch becomes the default when it is not main", async () => {
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "old-style" });
  const local = await localRepository("old-style", "master");
  await git(local, "push", "-q", pushUrl, "master");
  const { repository } = await forge.admin.ensureRepository({ owner: "ada", name: "old-style" });
  expect(repository.default_branch).toBe("master");
});

test("GH-3 pushing needs the owner's token, a private repository also for reading", async () => {
  const own = await forge.admin.ensureRepository({ owner: "ada", name: "secret", private: true });
  const other = await forge.admin.ensureRepository({ owner: "bob", name: "open" });
  const local = await localRepository("secret");
  await git(local, "push", "-q", own.pushUrl, "main");

  await expect(git(local, "push", "-q", own.cloneUrl, "main")).rejects.toThrow(
    /could not read Username|terminal prompts disabled/,
  );
  await expect(git(work, "clone", "-q", own.cloneUrl, "nowhere")).rejects.toThrow(
    /could not read Username|terminal prompts disabled/,
  );
  const wrong = own.pushUrl.replace(/:[^:@]+@/, ":forge_push_wrong@");
  await expect(git(local, "push", "-q", wrong, "main")).rejects.toThrow(/Authentication failed/);
  // Bob's own token, but Ada's repositories.
  const asBob = new URL(own.cloneUrl);
  asBob.username = "bob";
  asBob.password = new URL(other.pushUrl).password;
  await expect(git(work, "clone", "-q", asBob.href, "nowhere")).rejects.toThrow(/not found/);
  await git(work, "clone", "-q", own.pushUrl, "secret-clone");
});

test("GH-2 an installation token clones its own repository and no other", async () => {
  const { repository } = await forge.admin.ensureRepository({ owner: "ada", name: "narrow", private: true });
  const other = await forge.admin.ensureRepository({ owner: "ada", name: "beside", private: true });
  const local = await localRepository("narrow");
  await git(
    local,
    "push",
    "-q",
    (await forge.admin.ensureRepository({ owner: "ada", name: "narrow" })).pushUrl,
    "main",
  );
  const { token } = await installationToken({ repository_ids: [repository.id], permissions: { contents: "read" } });
  const withToken = (url: string) => url.replace("http://", `http://x-access-token:${token}@`);
  await git(work, "clone", "-q", withToken(`${forge.url}/ada/narrow.git`), "narrow-clone");
  await expect(git(work, "clone", "-q", withToken(other.cloneUrl), "nowhere")).rejects.toThrow(/not found/);
  await expect(git(local, "push", "-q", withToken(`${forge.url}/ada/narrow.git`), "main:other")).rejects.toThrow(/403/);
});

async function installationToken(body: unknown): Promise<{ token: string }> {
  const { installationId } = await forge.admin.ensureInstallation({ login: "ada" });
  const response = await fetch(`${forge.url}/api/v3/app/installations/${installationId}/access_tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${await createAppJwt()}` },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as { token: string };
}

/** curl sends paths as they are; fetch would tidy them up. */
function rawStatus(path: string): Promise<string> {
  const args = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--path-as-is", `${forge.url}${path}`];
  return new Promise((resolve, reject) => {
    execFile("curl", args, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
}

test("GH-3 no path leads out of a repository, nor to its files by name", async () => {
  await forge.admin.ensureRepository({ owner: "ada", name: "closed" });
  for (const path of [
    "/ada/closed.git/../../forge.sqlite",
    "/ada/closed.git/..%2f..%2fforge.sqlite",
    "/ada/%2e%2e%2f%2e%2e/info/refs?service=git-upload-pack",
    "/../../../etc/passwd",
    "/ada/../../1.git/info/refs?service=git-upload-pack",
    "/ada/closed.git/HEAD",
    "/ada/closed.git/objects/info/packs",
    "/ada/closed/..%2f..%2fforge.sqlite",
    "/assets/..%2f..%2fconfig.ts",
  ]) {
    expect([path, await rawStatus(path)]).toEqual([path, expect.stringMatching(/^40[0-4]$/)]);
  }
  expect(await rawStatus("/ada/closed.git/info/refs")).toBe("403");
  expect(await rawStatus("/ada/closed.git/info/refs?service=git-upload-pack")).toBe("200");
});

test("GH-3 a repository that does not exist is named in git's error", async () => {
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "closed" });
  const local = await localRepository("lost");
  await expect(git(local, "push", "-q", pushUrl.replace("closed", "never-made"), "main")).rejects.toThrow(
    /Make it first/,
  );
});
