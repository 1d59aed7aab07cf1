import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { git, makeRepository } from "../testing/index.ts";
import { openRepositories, type Repositories } from "./repositories.ts";

const run = promisify(execFile);
const megabyte = 1024 * 1024;
const maxPushBytes = 24 * megabyte;
const times = 8;
let directory: string;
let store: Repositories;
let url: string;
let close: () => Promise<void>;
/** Ids of requested repositories by name. */
let ids: Map<string, string>;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-transfers-"));
  store = openRepositories({ directory: join(directory, "stored"), maxPushBytes });
  ids = new Map();
  const server = createServer(async (asking, response) => {
    const { method = "", headers, url: target = "" } = asking;
    const [, name = "", path = ""] = /^\/(\w+)\.git\/([^?]*)/.exec(target) ?? [];
    const body = method === "POST" ? Readable.toWeb(asking) : null;
    const init = { method, headers, body, duplex: "half" } as unknown as RequestInit;
    const sent = new Request(`http://localhost${target}`, init);
    const asked = store.parseGitRequest(sent, path);
    if (asked === null) return void response.writeHead(404).end();
    const id = ids.get(name) ?? randomUUID();
    ids.set(name, id);
    const answer = await store.serve(sent, {
      id,
      organizationId: name.slice(0, 1),
      asked,
      defaultBranch: "main",
      onPush: async () => {},
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    await pipeline(Readable.fromWeb(answer.body as NodeReadableStream<Uint8Array>), response).catch(() => {});
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () =>
    new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
});
afterEach(async () => {
  await close();
  await rm(directory, { recursive: true, force: true });
});

/** Runs git's client; returns exit status and output. */
const client = async (cwd: string, ...args: string[]) => {
  const env = { PATH: process.env.PATH, HOME: directory, GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_NOSYSTEM: "1" };
  return run("git", args, { cwd, env, timeout: 60_000 }).then(
    ({ stderr }) => ({ status: 0, text: stderr }),
    (error: { code: number; stderr: string }) => ({ status: error.code, text: error.stderr }),
  );
};

/** Most resident memory that any process of git on the stored repositories has had by now, in bytes. */
async function memoryOfGit(): Promise<number> {
  let most = 0;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    if (!(await read("comm")).startsWith("git")) continue;
    if (!(await read("environ")).includes(`GIT_PROJECT_ROOT=${join(directory, "stored")}`)) continue;
    most = Math.max(most, Number(/^VmHWM:\s+(\d+)/m.exec(await read("status"))?.[1] ?? 0) * 1024);
  }
  return most;
}

const stored = async () => {
  const { stdout } = await run("du", ["-sb", join(directory, "stored")]).catch(() => ({ stdout: "0" }));
  return Number(stdout.split("\t", 1)[0]);
};

/** Bytes that don't compress, without holding them. */
function* noise(bytes: number): Generator<Buffer> {
  for (let made = 0; made < bytes; made += megabyte) yield randomBytes(megabyte);
}

test.runIf(isThorough)(
  "SRC-3 ERR-1 a push many times above the limit: git prints why, and the instance holds neither memory nor disk for it",
  {
    timeout: 120_000,
  },
  async () => {
    const work = join(directory, "work");
    await makeRepository(work, { "server.py": "one\n" });
    expect((await client(work, "push", "--quiet", `${url}/echo.git`, "main")).status).toBe(0);
    await pipeline(Readable.from(noise(times * maxPushBytes)), createWriteStream(join(work, "model.bin")));
    await git(work, "-c", "core.looseCompression=0", "add", "model.bin");
    await git(work, "commit", "--quiet", "--message", "Model");
    const [before, kept] = [process.memoryUsage.rss(), await stored()];
    let [own, ofGit, disk, isOver] = [0, 0, 0, false];
    const watch = async () => {
      while (!isOver) {
        ofGit = Math.max(ofGit, await memoryOfGit());
        own = Math.max(own, process.memoryUsage.rss());
        disk = Math.max(disk, await stored());
      }
    };
    const watching = watch();
    const { status, text } = await client(work, "-c", "pack.compression=0", "push", `${url}/echo.git`, "main");
    isOver = true;
    await watching;
    const seen = [own - before, ofGit, disk - kept].map((bytes) => Math.round(bytes / megabyte));
    expect(status).toBe(1);
    expect(text).toMatch(
      /^remote: This push is larger than 24 MB, the limit of this instance\. Leave out large files/m,
    );
    expect(text).toMatch(/! \[remote rejected\] main -> main \(unpacker error\)/);
    expect(text).not.toMatch(/RPC failed|Everything up-to-date/);
    for (const each of seen) expect(each).toBeLessThan(96);
    expect(disk - kept).toBeLessThan(maxPushBytes + 2 * megabyte);
    expect(await stored()).toBeLessThan(kept + megabyte);
    // The transfer's place is free, and the repository as it was.
    expect((await client(work, "push", "--quiet", `${url}/echo.git`, "HEAD~1:refs/heads/other")).status).toBe(0);
  },
);

/** Begins a request, and ends it with an answer. */
function hold(name: string): { readonly end: () => Promise<void> } {
  const headers = { "content-type": "application/x-git-receive-pack-request" };
  const sent = request(`${url}/${name}.git/git-receive-pack`, { method: "POST", headers });
  const answered = new Promise<void>((done) => {
    sent.on("response", (response) => response.resume().on("end", done)).on("error", () => done());
  });
  sent.flushHeaders();
  return {
    end: () => {
      sent.end();
      return answered;
    },
  };
}

test.runIf(isThorough)(
  "SRC-3 the 17th transfer of an instance is refused: git prints that it is busy, and exits with 128",
  async () => {
    // Clients that begin a push and send nothing.
    const held = ["a", "b", "c", "d"].flatMap((name) => Array.from({ length: 4 }, () => hold(name)));
    const work = join(directory, "work");
    await makeRepository(work, { "server.py": "one\n" });
    await expect.poll(async () => (await client(work, "ls-remote", `${url}/echo.git`)).status).toBe(128);
    for (const args of [
      ["push", `${url}/echo.git`, "main"],
      ["clone", `${url}/echo.git`, "clone"],
    ]) {
      const { status, text } = await client(work, ...args);
      expect([status, text]).toEqual([
        128,
        expect.stringMatching(/^remote: Too many clones and pushes are running\. Try again in a moment\.$/m),
      ]);
    }
    await Promise.all(held.map((each) => each.end()));
    expect((await client(work, "push", "--quiet", `${url}/echo.git`, "main")).status).toBe(0);
  },
);

test.runIf(isThorough)("SRC-3 slow transfers of one organization leave some for the others", async () => {
  const held = ["aa", "ab"].flatMap((name) => Array.from({ length: 4 }, () => hold(name)));
  await makeRepository(join(directory, "work"), { "server.py": "one\n" });
  const list = async (name: string) =>
    (await client(join(directory, "work"), "ls-remote", `${url}/${name}.git`)).status;
  await expect.poll(() => list("ac")).toBe(128);
  expect(await list("b")).toBe(0);
  await Promise.all(held.map((each) => each.end()));
  expect(await list("ac")).toBe(0);
});
