import { mkdtemp, readdir, readFile, readlink, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { openArtifacts } from "@towpath/artifacts";
import { openTestDatabase } from "@towpath/db/testing";
import type { BuildWorkspace, VolumeEntry } from "@towpath/runtime";
import { createFakeDriver } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BuildFailure } from "../failure.ts";
import { defaultExtractLimits, type ExtractLimits, extractSource } from "./extract.ts";
import { subtree } from "./source-tree.ts";
import { type TarEntry, tarball } from "./tarball.ts";

const database = openTestDatabase();
let dataDirectory: string;
let workspace: BuildWorkspace;
/** Where a driver of this host has the source. */
let directory: string;
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), "extract-"));
  workspace = await openWorkspace("build");
  const [name = ""] = await readdir(join(dataDirectory, "builds"));
  directory = join(dataDirectory, "builds", name, "source");
});
afterEach(async () => {
  await rm(dataDirectory, { recursive: true, force: true });
});

function openWorkspace(buildId: string): Promise<BuildWorkspace> {
  const { layers } = openArtifacts({ db: database.db, dataDirectory, config: null });
  const instanceDirectory = join(dataDirectory, "i");
  const driver = createFakeDriver({ dataDirectory, instanceDirectory, layers, uv: "uv", buildEnvironment: {} });
  const limits = { memoryBytes: 2 ** 28, processes: 8, cpus: 1, tmpBytes: 2 ** 20 };
  return driver.builds.open({ buildId, organizationId: "org", limits, diskBytes: 2 ** 30, freeBytes: 0 });
}
const into = (volumes: BuildWorkspace) => (entries: AsyncIterable<VolumeEntry>) => volumes.write("source", entries);
const write = (entries: AsyncIterable<VolumeEntry>) => into(workspace)(entries);

const never = new AbortController().signal;
const take = async (entries: TarEntry[], limits: Partial<ExtractLimits> = {}) =>
  extractSource(await tarball(entries), write, { ...defaultExtractLimits, ...limits }, never);

async function failureOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(BuildFailure);
  return (error as BuildFailure).diagnosis;
}

test("BLD-1 a commit's tarball is extracted without its top-level directory; the digest depends on content alone", async () => {
  const tree = await take([
    { name: "owner-repo-abc/", type: "directory" },
    { name: "owner-repo-abc/server.py", text: "x = 1\n" },
    { name: "owner-repo-abc/bin/run.sh", text: "#!/bin/sh\n", mode: 0o755 },
    { name: "owner-repo-abc/data/latest", type: "symlink", linkname: "../server.py" },
  ]);
  expect(tree.entries.map((entry) => entry.path).sort()).toEqual(["bin/run.sh", "data/latest", "server.py"]);
  expect(await readFile(join(directory, "server.py"), "utf8")).toBe("x = 1\n");
  expect(((await stat(join(directory, "bin/run.sh"))).mode & 0o777).toString(8)).toBe("755");
  expect(await readlink(join(directory, "data/latest"))).toBe("../server.py");

  const again = await extractSource(
    await tarball([
      { name: "other-top/data/latest", type: "symlink", linkname: "../server.py" },
      { name: "other-top/bin/run.sh", text: "#!/bin/sh\n", mode: 0o755, mtime: new Date(0) },
      { name: "other-top/server.py", text: "x = 1\n" },
    ]),
    into(await openWorkspace("other")),
    defaultExtractLimits,
    never,
  );
  expect(again.digest).toBe(tree.digest);
  expect(subtree(tree, "bin")?.entries.map((entry) => entry.path)).toEqual(["run.sh"]);
  expect(subtree(tree, "nothing")).toBeNull();
});

test.each<[string, TarEntry[]]>([
  ["parent directories", [{ name: "top/../../evil", text: "" }]],
  ["an absolute path", [{ name: "/etc/evil", text: "" }]],
  ["a control character", [{ name: "top/a\u001b[2Jb", text: "" }]],
  ["a symbolic link to an absolute path", [{ name: "top/a", type: "symlink", linkname: "/etc/passwd" }]],
  ["a symbolic link out of the tree", [{ name: "top/d/a", type: "symlink", linkname: "../../x" }]],
  ["a hard link", [{ name: "top/a", type: "link", linkname: "/etc/passwd" }]],
  [
    "a hard link inside",
    [
      { name: "top/b", text: "" },
      { name: "top/a", type: "link", linkname: "top/b" },
    ],
  ],
  ["a device", [{ name: "top/a", type: "character-device" }]],
  ["a pipe", [{ name: "top/a", type: "fifo" }]],
  [
    "a file written through a link",
    [
      { name: "top/d", type: "symlink", linkname: "e" },
      { name: "top/d/file", text: "evil" },
    ],
  ],
  [
    "a link that replaces a file",
    [
      { name: "top/f", text: "x" },
      { name: "top/f", type: "symlink", linkname: "g" },
    ],
  ],
  [
    "a link through another link",
    [
      { name: "top/a/b/l", type: "symlink", linkname: "../.." },
      { name: "top/x", type: "symlink", linkname: "a/b/l/../etc" },
    ],
  ],
  ["a very long name", [{ name: `top/${"n".repeat(300)}`, text: "" }]],
  ["a very deep path", [{ name: `top/${"d/".repeat(80)}f`, text: "" }]],
])("BLD-2 refused with a reason, and nothing outside the tree is touched: %s", async (_what, entries) => {
  const found = await failureOf(take(entries));
  expect(found).toMatchObject({ code: "source_unsafe", phase: "fetch" });
  expect(found.detail).toMatch(/is refused: .+\./);
  expect(found.remedy).not.toBe("");
  expect((await readdir(directory)).filter((name) => name === "evil")).toEqual([]);
});

test("a driver may begin to write late", async () => {
  const late = async (entries: AsyncIterable<VolumeEntry>) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await write(entries);
  };
  const files = [1, 2, 3].map((number) => ({ name: `owner-repo/${number}.py`, text: "x" }));
  const tree = await extractSource(await tarball(files), late, defaultExtractLimits, never);
  expect(tree.entries.map(({ path }) => path)).toEqual(["1.py", "2.py", "3.py"]);
});

test("BLD-2 packed size, unpacked size, decompression bombs and the number of files are limited", async () => {
  const noise = Buffer.from(Array.from({ length: 60_000 }, (_, index) => (index * 7919) % 251)).toString("latin1");
  const big: TarEntry[] = [{ name: "top/big", text: noise.repeat(10) }];
  expect((await failureOf(take(big, { unpackedBytes: 100_000, entries: 1 }))).code).toBe("source_too_large");
  expect((await failureOf(take(big, { packedBytes: 1_000 }))).code).toBe("source_too_large");
  const many = Array.from({ length: 30 }, (_, index) => ({ name: `top/${index}`, text: "" }));
  expect(await failureOf(take(many, { entries: 20 }))).toMatchObject({
    code: "source_too_large",
    detail: expect.stringContaining("20 files"),
  });
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const stream = new Response(new Uint8Array(bomb)).body;
  if (stream === null) throw new Error("no body");
  const limits = { ...defaultExtractLimits, unpackedBytes: 1024 * 1024, entries: 10 };
  const code = (await failureOf(extractSource(stream, write, limits, never))).code;
  expect(["source_too_large", "source_unavailable"]).toContain(code);
});

test("BLD-2 an empty commit is reported as such, not as a failed download", async () => {
  const { code, title } = await failureOf(take([{ name: "owner-repo-abc/", type: "directory" }]));
  expect([code, title]).toEqual(["entrypoint_not_found", "The commit has no files"]);
  expect(await failureOf(take([]))).toMatchObject({ code: "source_unavailable" });
});

test("BLD-2 a truncated archive, and other data, are diagnosed as unavailable", async () => {
  const whole = new Uint8Array(
    await new Response(await tarball([{ name: "top/a", text: "x".repeat(10_000) }])).arrayBuffer(),
  );
  for (const bytes of [whole.slice(0, whole.length / 2), new TextEncoder().encode("<html>"), new Uint8Array()]) {
    const { body } = new Response(bytes);
    if (body === null) throw new Error("no body");
    expect(await failureOf(extractSource(body, write, defaultExtractLimits, never))).toMatchObject({
      code: "source_unavailable",
    });
  }
});

test("BLD-13 canceling a build stops the extraction", async () => {
  const cancel = new AbortController();
  const endless = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
  setTimeout(() => cancel.abort(new Error("canceled")), 20);
  await expect(extractSource(endless, write, defaultExtractLimits, cancel.signal)).rejects.toThrow("canceled");
});

test("BLD-2 a volume that can't be written is no fault of the archive", async () => {
  const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
  const failing = async (entries: AsyncIterable<VolumeEntry>) => {
    for await (const { path } of entries) if (path === "b") throw full;
  };
  const archive = await tarball(["top/a", "top/b", "top/c"].map((name) => ({ name, text: "x" })));
  await expect(extractSource(archive, failing, defaultExtractLimits, never)).rejects.toBe(full);
});
