import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clonesFiles } from "./clones-files.ts";
import { shareWithCache } from "./share-with-cache.ts";

const root = process.getuid?.() === 0;
const builder = 1_900_000_000;
const large = Buffer.alloc(256 * 1024, "wheel");
let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-share-"));
  await chmod(directory, 0o755);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const cached = (name: string) => join(directory, "cache/archive-v0/abc", name);
const installed = (layer: string, name: string) => join(directory, layer, "lib/python3.12/site-packages", name);

/** A file as a build leaves it, with the build's user; files of layers are sealed. */
async function put(path: string, content: Buffer, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  await chmod(path, mode);
  if (root) await chown(path, builder, builder);
}

const putLayer = (layer: string, name: string, content = large) => put(installed(layer, name), content, 0o444);
const share = (layer: string) => shareWithCache(join(directory, layer), join(directory, "cache"));
const inode = async (path: string) => (await stat(path)).ino;

test.runIf(root)(
  "BLD-3 a layer and the cache hold the same bytes once, and so do layers with the same package",
  async () => {
    await put(cached("torch/big.so"), large, 0o644);
    await put(cached("torch/small.py"), Buffer.from("small"), 0o644);
    await putLayer("one", "torch/big.so");
    await putLayer("one", "torch/small.py", Buffer.from("small"));
    expect(await share("one")).toBe(large.length);
    await putLayer("two", "torch/big.so");
    expect(await share("two")).toBe(large.length);
    const inodes = [cached("torch/big.so"), installed("one", "torch/big.so"), installed("two", "torch/big.so")];
    expect(new Set(await Promise.all(inodes.map(inode))).size).toBe(1);
    expect(await readFile(installed("two", "torch/big.so"))).toEqual(large);
    expect(await inode(cached("torch/small.py"))).not.toBe(await inode(installed("one", "torch/small.py")));
  },
);

test.runIf(root)(
  "RUN-1 BLD-3 a build can replace files that its cache shares with a layer, but never write to them",
  async () => {
    await put(cached("torch/big.so"), large, 0o644);
    await putLayer("one", "torch/big.so");
    await share("one");
    const attack = `
import os, sys
os.setgid(${builder}); os.setuid(${builder})
for attempt in (lambda p: open(p, "r+b"), lambda p: os.chmod(p, 0o666), lambda p: os.truncate(p, 0)):
    try:
        attempt(sys.argv[1])
        print("written")
    except PermissionError:
        print("refused")
`;
    await chown(dirname(cached("torch/big.so")), builder, builder);
    const output = execFileSync("python3", ["-c", attack, cached("torch/big.so")], { encoding: "utf8" });
    expect(output.split(/\s+/).filter(Boolean)).toEqual(["refused", "refused", "refused"]);
    expect(await readFile(installed("one", "torch/big.so"))).toEqual(large);
  },
);

test.runIf(root)(
  "RUN-1 BLD-3 a cache that was tampered with gives a layer nothing, and leads nowhere else",
  async () => {
    const other = Buffer.from(large);
    other[100] = 0;
    await put(cached("torch/other.so"), other, 0o444);
    await put(join(directory, "elsewhere/linked.so"), large, 0o644);
    await symlink(join(directory, "elsewhere/linked.so"), cached("torch/linked.so"));
    await symlink(join(directory, "elsewhere"), cached("foreign"));
    await put(join(directory, "elsewhere/inside.so"), large, 0o644);
    // Equal, read-only, but not the platform's: whoever has it may make it writable.
    await put(cached("torch/own.so"), large, 0o444);
    for (const name of ["torch/other.so", "torch/linked.so", "foreign/inside.so", "torch/own.so"])
      await putLayer("one", name);
    const own = await inode(installed("one", "torch/own.so"));
    expect(await share("one")).toBe(large.length);
    expect(await inode(installed("one", "torch/own.so"))).toBe(own);
    expect(await inode(cached("torch/own.so"))).toBe(own);
    for (const name of ["torch/other.so", "torch/linked.so", "foreign/inside.so"])
      expect(await readFile(installed("one", name))).toEqual(large);
    expect(await readFile(cached("torch/other.so"))).toEqual(other);
    for (const name of ["linked.so", "inside.so"])
      expect((await stat(join(directory, "elsewhere", name))).nlink, name).toBe(1);
  },
);

test.runIf(root)(
  "RUN-1 BLD-3 links in a layer lead to no file of the host, with any content of the cache",
  async () => {
    const foreign = builder + 1;
    const victims = [join(directory, "elsewhere/site-packages/pg_wal/one"), join(directory, "elsewhere/data/two")];
    for (const victim of victims) {
      await put(victim, large, 0o600);
      await chown(victim, foreign, foreign);
    }
    await put(cached("pg_wal/one"), large, 0o644);
    await put(cached("data/two"), large, 0o644);
    // A build backend can leave these, as it may write to the whole environment.
    await mkdir(join(directory, "one/lib/python3.12"), { recursive: true });
    await symlink("../../elsewhere", join(directory, "one/lib/foreign"));
    await symlink("../../../elsewhere", join(directory, "one/lib/python3.12/site-packages"));
    await mkdir(join(directory, "two"));
    await symlink("../elsewhere", join(directory, "two/lib"));
    await mkdir(join(directory, "elsewhere/python3.12"));
    await symlink("..", join(directory, "elsewhere/python3.12/site-packages"));
    expect([await share("one"), await share("two")]).toEqual([0, 0]);
    for (const victim of victims) expect(await stat(victim)).toMatchObject({ uid: foreign, nlink: 1, mode: 0o100600 });
  },
);

test("BLD-3 copies that share their bytes are asked for only where the file system makes them", async () => {
  await mkdir(join(directory, "cache"));
  const canClone = () => {
    execFileSync("cp", ["--reflink=always", join(directory, "a"), join(directory, "b")], { stdio: "ignore" });
    return true;
  };
  await writeFile(join(directory, "a"), large);
  let expected = false;
  try {
    expected = canClone();
  } catch {
    // The file system of this machine's temporary directory can't.
  }
  expect(await clonesFiles(directory, join(directory, "cache"))).toBe(expected);
  expect(await clonesFiles(directory, join(directory, "missing"))).toBe(false);
});
