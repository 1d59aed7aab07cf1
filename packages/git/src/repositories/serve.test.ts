import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TowpathError } from "@towpath/core/errors";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { commitFiles, git, makeRepository } from "../testing/index.ts";
import { serveStore } from "../testing/serve-store.ts";
import { directoryStorage } from "./directory-storage.ts";
import { openRepositories, type Repositories, repositoriesIn } from "./repositories.ts";
import type { GitRequest } from "./serve.ts";

let directory: string;
let store: Repositories;
let id: string;
let url: string;
let close: () => Promise<void>;
let mayWrite: boolean;
let pushes: (readonly string[])[];
/** Recording a push fails with this. */
let refuses: Error | null;
let sent: { readonly encoding: string; readonly isChunked: boolean; readonly protocol: string }[];
const maxPushBytes = 4 * 1024 * 1024;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-repositories-"));
  store = openRepositories({ directory: join(directory, "stored"), maxPushBytes });
  [id, mayWrite, pushes, sent] = [randomUUID(), true, [], []];
  refuses = null;
  const served = await serveStore(store, {
    onRequest: ({ headers }) =>
      void sent.push({
        encoding: String(headers["content-encoding"] ?? ""),
        isChunked: headers["transfer-encoding"] === "chunked",
        protocol: String(headers["git-protocol"] ?? ""),
      }),
    onPush: async (refs) => {
      pushes.push(refs);
      if (refuses) throw refuses;
    },
    mayWrite: () => mayWrite,
  });
  url = `${served.url}/${id}.git`;
  close = served.close;
});
afterEach(async () => {
  await close();
  await rm(directory, { recursive: true, force: true });
});

const work = (name = "work") => join(directory, name);
const refusal = (pushed: Promise<string>) =>
  pushed.then(
    () => "accepted",
    (error: { stderr?: string }) => error.stderr ?? String(error),
  );
const bare = () => join(directory, "stored", `${id}.git`);

test("SRC-3 git's client pushes to a repository of the instance, clones it, fetches, and forces a push", async () => {
  const first = await makeRepository(work(), { "server.py": "one\n" });
  await git(work(), "remote", "add", "origin", url);
  await git(work(), "push", "--quiet", "origin", "main", "HEAD:refs/heads/fix/a", "HEAD:refs/tags/v1");
  expect(pushes).toEqual([["refs/heads/fix/a", "refs/heads/main", "refs/tags/v1"]]);
  await git(directory, "clone", "--quiet", url, "clone");
  expect(await git(work("clone"), "rev-parse", "HEAD", "origin/fix/a", "v1")).toBe(`${first}\n${first}\n${first}`);
  expect(sent.some(({ protocol }) => protocol === "version=2")).toBe(true);

  const second = await commitFiles(work(), { "server.py": "two\n" });
  await git(work(), "push", "--quiet", "origin", "main");
  await git(work("clone"), "pull", "--quiet");
  expect(await git(work("clone"), "rev-parse", "HEAD")).toBe(second);
  await git(work(), "commit", "--quiet", "--amend", "--message", "Rewritten");
  expect(await refusal(git(work(), "push", "--quiet", "origin", "main"))).toMatch(/non-fast-forward|rejected/);
  await git(work(), "push", "--quiet", "--force", "origin", "main", ":fix/a");
  expect(pushes.slice(1)).toEqual([["refs/heads/main"], ["refs/heads/fix/a", "refs/heads/main"]]);
  expect((await store.open(id).refs()).branches.get("main")).toBe(await git(work(), "rev-parse", "HEAD"));
  // A push that changes nothing is not recorded.
  await git(work(), "push", "--quiet", "origin", "main");
  expect(pushes).toHaveLength(3);
  await git(directory, "clone", "--quiet", "--depth=1", url, "shallow");
  expect(await git(work("shallow"), "rev-list", "--count", "HEAD")).toBe("1");
});

test.runIf(isThorough)(
  "SRC-3 large transfers stream: a chunked push, and a request that git compresses",
  async () => {
    await makeRepository(work(), { "data.bin": randomBytes(2_000_000) });
    for (let count = 0; count < 60; count += 1) {
      await git(work(), "commit", "--quiet", "--allow-empty", "-m", `Commit ${count}`);
      await git(work(), "branch", `branch-${count}`);
    }
    await git(work(), "push", "--quiet", url, "--all");
    expect(sent.some(({ isChunked }) => isChunked)).toBe(true);
    await git(directory, "clone", "--quiet", "-c", "protocol.version=0", url, "clone");
    expect(sent.some(({ encoding }) => encoding === "gzip")).toBe(true);
    expect((await stat(join(work("clone"), "data.bin"))).size).toBe(2_000_000);
  },
  60_000,
);

test.runIf(isThorough)(
  "SRC-3 a push above the limit is refused with a text that git prints, and nothing of it stays",
  async () => {
    await makeRepository(work(), { "data.bin": randomBytes(maxPushBytes * 2) });
    expect(await refusal(git(work(), "push", url, "main"))).toMatch(/larger than 4 MB, the limit/);
    expect(pushes).toEqual([]);
    expect((await store.open(id).refs()).branches.size).toBe(0);
    expect((await git(bare(), "count-objects", "-v")).replaceAll("\n", " ")).toMatch(/^count: 0 .*in-pack: 0/);
  },
);

test.runIf(isThorough)("SRC-3 a read request can't push, and no file of a repository is served by name", async () => {
  await makeRepository(work(), { "server.py": "one\n" });
  await git(work(), "push", "--quiet", url, "main");
  mayWrite = false;
  await git(directory, "clone", "--quiet", url, "clone");
  expect(await refusal(git(work(), "push", url, "main:other"))).toMatch(/403/);
  for (const path of ["/HEAD", "/config", "/info/refs", "/objects/info/packs", "/info/refs?service=git-other"]) {
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 404]);
  }
  expect((await fetch(`${url}/git-upload-pack`)).status).toBe(404);
});

test("SRC-3 forbidden content of a push is refused: broken objects, internal refs; hooks of a repository never run", async () => {
  await makeRepository(work(), { "server.py": "one\n" });
  await git(work(), "push", "--quiet", url, "main");
  const blob = await git(work(), "rev-parse", "HEAD:server.py");
  const raw = Buffer.concat([Buffer.from("100644 .git\0"), Buffer.from(blob, "hex")]);
  const tree = execFileSync("git", ["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], {
    cwd: work(),
    input: raw,
    encoding: "utf8",
  }).trim();
  const bad = await git(work(), "commit-tree", "-m", "Bad", tree);
  expect(await refusal(git(work(), "push", url, `${bad}:refs/heads/bad`))).toMatch(/hasDotgit|contains '\.git'/);
  expect(await refusal(git(work(), "push", url, "main:refs/towpath/mine"))).toMatch(/deny updating a hidden ref/);
  const hook = join(bare(), "hooks", "post-receive");
  await mkdir(join(bare(), "hooks"), { recursive: true });
  await writeFile(hook, `#!/bin/sh\ntouch ${work("hook-ran")}\n`, { mode: 0o755 });
  await git(work(), "push", "--quiet", url, "main:after");
  await expect(stat(work("hook-ran"))).rejects.toThrow(/ENOENT/);
  expect([...(await store.open(id).refs()).branches.keys()]).toEqual(["after", "main"]);
});

test("SRC-3 transfers of one repository that take long leave some for the others", async () => {
  const open: ReadableStreamDefaultController[] = [];
  const ask = (of: string, init: RequestInit, asked: GitRequest) =>
    store.serve(new Request(`${url}/${asked.service}?service=git-upload-pack`, init), {
      id: of,
      organizationId: of,
      defaultBranch: "main",
      asked,
      onPush: async () => {},
    });
  const push = () => {
    const body = new ReadableStream({ start: (controller) => void open.push(controller) });
    const init = { method: "POST", body, duplex: "half" } as const;
    return ask(id, init, { service: "git-receive-pack", access: "write" });
  };
  const list = (of: string) => ask(of, {}, { service: "info/refs", access: "read" });
  const slow = Array.from({ length: 4 }, push);
  await expect.poll(() => open.length).toBe(4);
  const refused = await list(id);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  const other = await list(randomUUID());
  expect(other.status).toBe(200);
  await other.text();
  for (const controller of open) controller.close();
  for (const response of await Promise.all(slow)) await response.text();
  const after = await list(id);
  expect(after.status).toBe(200);
  await after.text();
});

test("SRC-3 ERR-1 a push that can't be recorded is refused with the reason, and one whose refs can't be read is not confirmed", async () => {
  await makeRepository(work(), { "server.py": "one\n" });
  refuses = new TowpathError("conflict", "This repository continues on GitHub as acme/rain.");
  expect(await refusal(git(work(), "push", url, "main"))).toMatch(
    /! \[remote rejected\] main -> main \(This repository continues on GitHub as acme\/rain\.\)/,
  );
  const storage = directoryStorage(join(directory, "broken"));
  let stored = 0;
  const broken = await serveStore(
    repositoriesIn(async () => ({
      ...storage,
      async change(...args) {
        const change = await storage.change(...args);
        let asked = 0;
        return {
          ...change,
          // Read before git runs, by git, and afterwards.
          get directory() {
            asked += 1;
            return asked < 3 ? change.directory : directory;
          },
          store: async () => {
            stored += 1;
          },
        };
      },
    })),
  );
  const pushed = await refusal(git(work(), "push", `${broken.url}/${id}.git`, "main"));
  await broken.close();
  expect(pushed).toMatch(/! \[remote rejected\] main -> main/);
  expect(stored).toBe(0);
});
