import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import type { GitCredential, GitRemote, SourceWarning } from "@towpath/core/ports";
import { createAddressPolicy } from "@towpath/egress";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { createGitRemotes } from "./remotes.ts";
import { commitFiles, type GitServer, git, makeRepository, serveGitRepositories } from "./testing/index.ts";
import type { GitRemotesOptions } from "./use-remote.ts";

const policy = createAddressPolicy(["127.0.0.1/32"]);
const token: GitCredential = { kind: "token", username: "", token: "s3cret-token" };
let directory: string;
let scratch: string;
let server: GitServer;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-git-test-"));
  scratch = join(directory, "scratch");
  await mkdir(scratch);
  server = await serveGitRepositories(join(directory, "repositories"));
});
beforeEach(() => server.set({ token: undefined, answer: () => null, isOld: false }));
afterAll(async () => {
  await server?.close();
  await rm(directory, { recursive: true, force: true });
});

const open = (remote: GitRemote, options: Partial<GitRemotesOptions> = {}) =>
  createGitRemotes({ policy, directory: scratch, ...options }).open(remote);

async function repository(files: Parameters<typeof makeRepository>[1], branch = "main") {
  count += 1;
  const name = `acme/repository-${count}`;
  const path = join(directory, "repositories", name);
  const sha = await makeRepository(path, files, branch);
  return {
    path,
    sha,
    branch,
    url: `${server.url}/${name}`,
    remote: { url: `${server.url}/${name}`, credential: null },
  };
}

/** The error of a call. */
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: { code?: string; message: string }) => ({ code: error.code, message: error.message }),
  );

/** Files of an archive by their paths below its one directory. */
async function filesOf(stream: ReadableStream<Uint8Array>): Promise<Record<string, string>> {
  const into = await mkdtemp(join(directory, "extracted-"));
  await writeFile(join(into, "archive"), stream);
  await promisify(execFile)("tar", ["-xzf", "archive"], { cwd: into });
  const [top = ""] = (await readdir(into)).filter((name) => name !== "archive");
  const entries = await readdir(join(into, top), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (path) => [relative(join(into, top), path), await readFile(path, "utf8")])),
  );
}

test("SRC-2 a public repository is read: branches, the default one, commit, files, changes and archive, and nothing stays", async () => {
  const { path, sha, remote } = await repository({ "server.py": "one", "a/b.txt": "two" }, "trunk");
  await git(path, "branch", "feature/new");
  const read = open(remote);
  expect(await read.refs()).toEqual({
    url: remote.url,
    defaultBranch: "trunk",
    branches: new Map([
      ["feature/new", sha],
      ["trunk", sha],
    ]),
  });
  expect(await read.commit({ branch: "trunk", sha })).toEqual({ sha, message: "First", author: "Ada Lock" });
  const checkout = await read.checkout({ branch: "trunk", sha });
  expect([...(await checkout.paths())].toSorted()).toEqual(["a/b.txt", "server.py"]);
  expect([await checkout.read("a/b.txt"), await checkout.read("a"), await checkout.read("nope")]).toEqual([
    "two",
    null,
    null,
  ]);
  await checkout.close();
  const next = await commitFiles(path, { "server.py": "changed", "-x": "option" }, "Second");
  expect(await read.changedPaths(sha, { branch: "trunk", sha: next })).toEqual(["-x", "server.py"]);
  const warnings: SourceWarning[] = [];
  const { signal } = new AbortController();
  const options = { warn: (warning: SourceWarning) => void warnings.push(warning), signal };
  const files = await filesOf(await read.tarball({ branch: "trunk", sha: next }, options));
  expect(files).toEqual({ "-x": "option", "server.py": "changed", "a/b.txt": "two" });
  expect(warnings).toEqual([]);
  await expect.poll(() => readdir(scratch)).toEqual([]);
});

test.runIf(isThorough)(
  "SRC-2 an empty repository has no branch, and a host that serves heads only serves an earlier commit from the history",
  async () => {
    const { path, sha, remote } = await repository({ "server.py": "one" });
    for (let at = 0; at < 3; at++) await commitFiles(path, { "server.py": `change ${at}` });
    server.set({ isOld: true });
    expect(await open(remote).commit({ branch: "main", sha })).toMatchObject({ sha, message: "First" });
    const empty = join(directory, "repositories", "empty");
    await mkdir(empty, { recursive: true });
    await git(empty, "init", "--quiet", "--template=");
    const refs = await open({ url: `${server.url}/empty`, credential: null }).refs();
    expect(refs).toMatchObject({ defaultBranch: null, branches: new Map() });
  },
);

test("SRC-2 a private repository needs its token, and a wrong token gets another error than none", async () => {
  const { remote } = await repository({ "server.py": "one" });
  server.set({ token: "s3cret-token" });
  expect((await open({ ...remote, credential: token }).refs()).defaultBranch).toBe("main");
  expect(server.requests.at(-1)?.credential).toBe("git:s3cret-token");
  expect(await refusal(open(remote).refs())).toEqual({
    code: "not_found",
    message: expect.stringMatching(/if the repository is private, add a token or a deploy key/),
  });
  const wrong = await refusal(open({ ...remote, credential: { ...token, token: "hunter2" } }).refs());
  expect(wrong).toEqual({ code: "conflict", message: expect.stringMatching(/refuses the token.*Add a new one/) });
  expect(JSON.stringify(wrong)).not.toContain("hunter2");
  const inUrl = await refusal(open({ url: remote.url.replace("://", "://me:hunter2@"), credential: null }).refs());
  expect(inUrl).toEqual({ code: "invalid_input", message: expect.stringMatching(/Add a token instead/) });
});

test("SRC-2 an address without a repository, with bad answers or without a server gets its own error", async () => {
  const { remote } = await repository({ "server.py": "one" });
  const asked = async (answer: Parameters<GitServer["set"]>[0]["answer"]) => {
    server.set({ answer });
    return refusal(open(remote, { timeouts: { probeMs: 300 } }).refs());
  };
  expect(await asked(() => ({ status: 200, headers: { "content-type": "text/html" }, body: "<html>" }))).toMatchObject({
    code: "not_found",
    message: expect.stringMatching(/no Git repository at this URL/),
  });
  expect(await asked(() => ({ status: 404 }))).toMatchObject({ code: "not_found" });
  expect(await asked(() => ({ status: 500 }))).toMatchObject({ code: "upstream_unavailable" });
  expect(await asked(() => ({ status: 429 }))).toMatchObject({ code: "upstream_unavailable" });
  expect(await asked(() => "break")).toMatchObject({ code: "upstream_unavailable" });
  expect(await asked(() => "hang")).toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringMatching(/did not answer within 0.3 seconds/),
  });
});

test("SRC-2 a moved repository is found where it is, and no redirect leads to a private address or without TLS", async () => {
  const { url, remote } = await repository({ "server.py": "one" });
  const to = (location: string) =>
    server.set({
      answer: ({ url: asked = "" }) => (asked.startsWith("/old") ? { status: 301, headers: { location } } : null),
    });
  const old = { url: `${server.url}/old/name`, credential: null };
  to(`${url}/info/refs?service=git-upload-pack`);
  expect((await open(old).refs()).url).toBe(remote.url);
  to("http://169.254.169.254/latest/info/refs?service=git-upload-pack");
  expect(await refusal(open(old).refs())).toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/not a host on the public internet/),
  });
  to(`${server.url}/login`);
  expect(await refusal(open(old).refs())).toMatchObject({ code: "not_found" });
  to(`${server.url}/old/again/info/refs?service=git-upload-pack`);
  expect(await refusal(open(old).refs())).toMatchObject({ code: "not_found" });
});

test("SRC-2 a credential is never sent to another origin, also when the repository moves there", async () => {
  const { remote } = await repository({ "server.py": "one" });
  const seen: (string | undefined)[] = [];
  const stranger = createServer(({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(401).end();
  });
  await new Promise<void>((done) => stranger.listen(0, "127.0.0.1", done));
  onTestFinished(() => void stranger.close());
  const elsewhere = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/acme/echo`;
  server.set({
    answer: () => ({ status: 302, headers: { location: `${elsewhere}/info/refs?service=git-upload-pack` } }),
  });
  expect(await refusal(open({ ...remote, credential: token }).refs())).toMatchObject({
    code: "not_found",
    message: expect.stringContaining(elsewhere),
  });
  expect(seen).toEqual([undefined]);
});

test("SRC-2 private, loopback and metadata addresses are refused, by address and by name, before anything connects", async () => {
  const limits = {
    policy: createAddressPolicy([]),
    resolve: async () => [{ address: "10.1.2.3", family: 4 as const }],
  };
  const strict = (of: GitRemote) => open(of, limits);
  for (const url of [
    server.url,
    "https://10.0.0.1",
    "https://169.254.169.254",
    "https://intern.example.com",
    "https://[::1]",
  ]) {
    const refused = await refusal(strict({ url: `${url}/acme/echo`, credential: null }).refs());
    expect([url, refused]).toEqual([url, { code: "invalid_input", message: expect.stringMatching(/public internet/) }]);
  }
  const deployKey = { kind: "deployKey", privateKey: "none" } as const;
  const byKey = strict({ url: "ssh://git@intern.example.com/acme/echo", credential: deployKey }).refs();
  expect(await refusal(byKey)).toMatchObject({ code: "invalid_input" });
  expect(server.requests.filter(({ url }) => url.startsWith("/acme/echo"))).toEqual([]);
});

test("SRC-2 a commit that the host no longer has is reported as rewritten history, and a hostile name never becomes an option", async () => {
  const { path, sha, remote } = await repository({ "server.py": "one" });
  await git(path, "commit", "--quiet", "--amend", "--message", "Rewritten");
  await git(path, "reflog", "expire", "--expire=now", "--all");
  await git(path, "gc", "--quiet", "--prune=now");
  expect(await refusal(open(remote).commit({ branch: "main", sha }))).toEqual({
    code: "not_found",
    message: expect.stringMatching(/no longer has commit [0-9a-f]{7}.*rewritten/),
  });
  for (const at of [
    { branch: "--upload-pack=touch", sha },
    { branch: "main", sha: "--output=x" },
  ])
    expect(await refusal(open(remote).commit(at))).toMatchObject({ code: "not_found" });
  for (const url of [`${server.url}/--upload-pack=x`, "ssh://-oProxyCommand=x/acme/echo"])
    expect(await refusal(open({ url, credential: null }).refs())).not.toBeNull();
});

test("SRC-2 submodules are in the archive; those that can't be fetched and files of LFS are named", async () => {
  const library = await repository({ "lib.py": "library" });
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12\n`;
  const { path, remote } = await repository({
    "server.py": "one",
    "model.bin": pointer,
    ".gitattributes": "*.bin filter=lfs\n",
  });
  await writeFile(
    join(path, ".gitmodules"),
    `[submodule "lib"]\n path = lib\n url = ../${library.url.split("/").at(-1)}\n[submodule "gone"]\n path = gone\n url = ../gone\n`,
  );
  await git(path, "add", ".gitmodules");
  for (const name of ["lib", "gone"])
    await git(path, "update-index", "--add", "--cacheinfo", `160000,${library.sha},${name}`);
  await git(path, "commit", "--quiet", "--message", "With submodules");
  const sha = await git(path, "rev-parse", "HEAD");
  const warnings: SourceWarning[] = [];
  const { signal } = new AbortController();
  const options = { warn: (warning: SourceWarning) => void warnings.push(warning), signal };
  const files = await filesOf(await open(remote).tarball({ branch: "main", sha }, options));
  expect(files["lib/lib.py"]).toBe("library");
  const texts = warnings.map(({ title, detail }) => `${title}: ${detail}`).toSorted();
  expect(texts).toEqual([
    expect.stringMatching(/file of Git LFS is missing.*model\.bin/),
    expect.stringMatching(/submodule.*gone/i),
  ]);
});

test("SRC-2 a repository that is larger than the limit is refused, and an abort ends the fetch; neither leaves files", async () => {
  const large = randomBytes(3 * 1024 * 1024);
  const { sha, remote } = await repository({ "server.py": "one", "large.bin": large });
  const at = { branch: "main", sha };
  const warn = () => {};
  const limited = open(remote, { maxBytes: 1024 * 1024 });
  const refused = await refusal(limited.tarball(at, { warn, signal: new AbortController().signal }));
  expect(refused).toEqual({ code: "invalid_input", message: expect.stringMatching(/larger than 1 MB/) });
  const abort = new AbortController();
  server.set({ answer: () => "hang" });
  const running = refusal(open(remote).tarball(at, { warn, signal: abort.signal }));
  abort.abort(new Error("canceled"));
  expect(await running).toMatchObject({ message: "canceled" });
  await expect.poll(() => readdir(scratch)).toEqual([]);
});
