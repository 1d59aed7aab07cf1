import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { inspect, promisify } from "node:util";
import type { GitCredential, GitRemote } from "@towpath/core/ports";
import { createAddressPolicy } from "@towpath/egress";
import { processName } from "@towpath/runtime/process";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { gitEnvironment } from "./git-environment.ts";
import { createGitRemotes } from "./remotes.ts";
import { openScratch, removeLeftovers } from "./scratch.ts";
import { type GitServer, git, makeRepository, serveGitRepositories } from "./testing/index.ts";
import type { GitRemotesOptions } from "./use-remote.ts";

const token: GitCredential = { kind: "token", username: "", token: "s3cret-token" };
const basic = Buffer.from("git:s3cret-token").toString("base64");
let directory: string;
let scratch: string;
let server: GitServer;
let path: string;
let sha: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-git-hostile-"));
  scratch = join(directory, "scratch");
  await mkdir(scratch);
  path = join(directory, "repositories", "acme", "echo");
  sha = await makeRepository(path, { "server.py": "one", "data.bin": randomBytes(400_000) });
  server = await serveGitRepositories(join(directory, "repositories"));
});
beforeEach(() => server.set({ token: undefined, answer: () => null, isOld: false }));
afterAll(async () => {
  await server?.close();
  await rm(directory, { recursive: true, force: true });
});

const open = (of: GitRemote, more: Partial<GitRemotesOptions> = {}) =>
  createGitRemotes({ policy: createAddressPolicy(["127.0.0.1/32"]), directory: scratch, ...more }).open(of);
const remote = () => ({ url: `${server.url}/acme/echo`, credential: null });
const options = { warn: () => {}, signal: new AbortController().signal };
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** Writes an object without git's checks. */
async function writeObject(kind: string, content: Uint8Array): Promise<string> {
  const child = promisify(execFile)("git", ["hash-object", "-t", kind, "-w", "--stdin", "--literally"], {
    cwd: path,
    env: gitEnvironment(path),
  });
  child.child.stdin?.end(content);
  return (await child).stdout.trim();
}

/** Makes a branch of this name with a commit of one tree. */
async function commitTree(branch: string, entries: readonly (readonly [mode: string, name: string, oid: string])[]) {
  const records = entries.map(([mode, name, oid]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, "hex")]),
  );
  const commit = await git(path, "commit-tree", "-m", "Hostile", await writeObject("tree", Buffer.concat(records)));
  await git(path, "update-ref", `refs/heads/${branch}`, commit);
  return { branch, sha: commit };
}

test("SRC-2 git connects to the address that was checked, and resolves no name by itself", async () => {
  const port = new URL(server.url).port;
  let resolved = 0;
  // The name doesn't exist.
  const resolve = async () => {
    resolved += 1;
    return [{ address: "127.0.0.1", family: 4 }];
  };
  const named = { url: `http://git.towpath.invalid:${port}/acme/echo`, credential: null };
  expect((await open(named, { resolve }).refs()).branches.get("main")).toBe(sha);
  const rebinding = async () => {
    resolved += 1;
    return [{ address: resolved % 2 === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }];
  };
  resolved = 0;
  expect(await refusal(open(named, { resolve: rebinding }).refs())).toMatchObject({ code: "invalid_input" });
});

test("SRC-2 a file that is named like a path is refused with what to do; nothing is written under its name", async () => {
  const blob = await writeObject("blob", Buffer.from("owned"));
  for (const [name, word] of [
    ["..", "hasDotdot"],
    [".git", "hasDotgit"],
    ["a/../../../owned", "fullPathname"],
  ] as const) {
    const at = await commitTree("hostile", [["100644", name, blob]]);
    expect(await refusal(open(remote()).tarball(at, options))).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(`dangerous (${word})`),
    });
    expect(await refusal(open(remote()).checkout(at))).toMatchObject({ code: "invalid_input" });
  }
  const odd = await commitTree("odd", [
    ["100644", "-x", blob],
    ["100644", "new\nline", blob],
  ]);
  const checkout = await open(remote()).checkout(odd);
  expect(await checkout.paths()).toEqual(["-x", "new\nline"]);
  expect(await checkout.read("new\nline")).toBe("owned");
  expect(await checkout.read("../../../etc/passwd")).toBeNull();
  await checkout.close();
  expect(await readdir(scratch)).toEqual([]);
});

test.runIf(isThorough)("SRC-2 a small repository with a billion files is refused before they are listed", async () => {
  const blob = await writeObject("blob", Buffer.from("boom"));
  let tree = await writeObject("blob", Buffer.from("boom"));
  for (let level = 0; level < 9; level += 1) {
    const mode = level === 0 ? "100644" : "40000";
    const oid = level === 0 ? blob : tree;
    const names = Array.from({ length: 10 }, (_, at) => `f${at}`);
    const records = names.map((name) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, "hex")]));
    tree = await writeObject("tree", Buffer.concat(records));
  }
  const at = await commitTree("bomb", [["40000", "d", tree]]);
  const expected = { code: "invalid_input", message: expect.stringMatching(/more than 100,000 files/) };
  expect(await refusal(open(remote()).tarball(at, options))).toMatchObject(expected);
  expect(await refusal(open(remote()).checkout(at))).toMatchObject(expected);
  expect(await readdir(scratch)).toEqual([]);
});

test("SRC-2 a small repository with one large file under many names is refused with its name, before an archive is made", async () => {
  const blob = await writeObject("blob", Buffer.alloc(200_000));
  const names = Array.from({ length: 20 }, (_, at) => ["100644", `copy-${at + 10}`, blob] as const);
  const at = await commitTree("copies", names);
  const limited = open(remote(), { maxBytes: 2 * 1024 * 1024 });
  expect(await refusal(limited.tarball(at, options))).toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/larger than 2 MB.*largest file is copy-10\./),
  });
  expect(await readdir(scratch)).toEqual([]);
});

test.runIf(isThorough)("SRC-2 an archive that takes too long breaks with a text of ours", async () => {
  const slow = await open(remote(), { timeouts: { fetchMs: 1_000 } }).tarball({ branch: "main", sha }, options);
  await expect.poll(() => readdir(scratch), { timeout: 5_000 }).toEqual([]);
  expect(await refusal(text(slow))).toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringMatching(/took too long here\. Try again shortly/),
  });
});

test.runIf(isThorough)(
  "SRC-2 a host that stops answering while it sends ends with its limit of time, and leaves no process",
  async () => {
    server.set({ answer: ({ method }) => (method === "POST" ? "hang" : null) });
    const limited = open(remote(), { timeouts: { fetchMs: 700, refsMs: 700 } });
    expect(await refusal(limited.refs())).toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringMatching(/in time/),
    });
    expect(await refusal(limited.tarball({ branch: "main", sha }, options))).toMatchObject({
      code: "upstream_unavailable",
    });
    const abort = new AbortController();
    const running = refusal(open(remote()).tarball({ branch: "main", sha }, { ...options, signal: abort.signal }));
    await expect.poll(() => commandLines(server.url)).not.toEqual([]);
    abort.abort(new Error("canceled"));
    expect(await running).toMatchObject({ message: "canceled" });
    await expect.poll(() => commandLines(server.url)).toEqual([]);
    expect(await readdir(scratch)).toEqual([]);
  },
);

test("SRC-2 a credential is in no command line, and in no error, also when the host quotes it", async () => {
  const lines: string[] = [];
  server.set({
    token: "s3cret-token",
    answer: async ({ headers: { "user-agent": agent = "" } }) => {
      if (agent.includes("towpath")) return null;
      lines.push(...(await commandLines(server.url)));
      // git repeats a text of this type.
      const headers = { "content-type": "text/plain" };
      return { status: 500, headers, body: `you sent ${basic}, which is s3cret-token` };
    },
  });
  const error = await refusal(open({ ...remote(), credential: token }).refs());
  expect(error).toMatchObject({ code: "upstream_unavailable", cause: { stderr: expect.stringMatching(/you sent/) } });
  expect(lines.length).toBeGreaterThan(0);
  for (const text of [...lines, inspect(error, { depth: 10, showHidden: true })]) {
    expect(text).not.toContain("s3cret-token");
    expect(text).not.toContain(basic);
  }
});

test.runIf(isThorough)(
  "SRC-2 a branch that is gone is named as a commit that the host no longer has, also by old hosts",
  async () => {
    server.set({ isOld: true });
    const gone = { branch: "gone", sha: "a".repeat(40) };
    expect(await refusal(open(remote()).commit(gone))).toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/no longer has commit aaaaaaa/),
    });
    expect(await open(remote()).changedPaths(gone.sha, { branch: "main", sha })).toBeNull();
  },
);

test("SRC-2 leftovers of killed processes are removed, directories in use are not", async () => {
  const parent = join(directory, "leftovers");
  await mkdir(parent);
  const left = async (number: number, owner: string | null) => {
    const name = `towpath-git-${String(number).padStart(24, "0")}`;
    await mkdir(join(parent, name));
    if (owner !== null) await writeFile(join(parent, name, "owner"), owner);
    return name;
  };
  const own = await processName();
  // Our own id with another start time: the process has ended.
  const ended = own.replace(/-\d+$/, "-1");
  await left(1, ended);
  const old = await left(2, null);
  await utimes(join(parent, old), new Date(0), new Date(0));
  // In another container our process id may be any process.
  const elsewhere = ended.replace(/pid:\[\d+\]/, "pid:[1]");
  const kept = [await left(3, elsewhere), await left(4, own), await left(5, null)];
  await mkdir(join(parent, "other"));
  const { directory: opened } = await openScratch(parent, 1024);
  await removeLeftovers(parent);
  expect((await readdir(parent)).toSorted()).toEqual([...kept, "other", basename(opened)].toSorted());
});

/** Command lines of running programs that name this server. */
async function commandLines(url: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return lines.map((line) => line.replaceAll("\0", " ")).filter((line) => line.includes(url));
}
