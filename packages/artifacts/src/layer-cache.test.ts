import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { openTestDatabase } from "@towpath/db/testing";
import { removeDirectory } from "@towpath/runtime/remove-directory";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { type ArtifactStore, type LayerCache, openArtifacts } from "./index.ts";
import { createLayerCache } from "./layer-cache.ts";

const maxBytes = 10 * 1024 * 1024;
const nameOf = (text: string) => createHash("sha256").update(text).digest("hex");
let testDirectory = "";
const database = openTestDatabase();
let store: ArtifactStore;
let count = 0;

const openIn = (dataDirectory: string) => openArtifacts({ db: database.db, dataDirectory, config: null });

beforeAll(async () => {
  testDirectory = await shortDirectory();
  store = openIn(testDirectory).store;
});
afterAll(async () => {
  await removeDirectory(testDirectory);
});

/** Another host, which has fetched nothing yet. */
function otherHost(): LayerCache {
  count += 1;
  return createLayerCache({ store, directory: join(testDirectory, `host-${count}`) });
}

/** A file name that is not UTF-8, which Linux allows and some packages have. */
const nonUnicodeName = (layer: string) => Buffer.concat([Buffer.from(`${layer}/latin-`), Buffer.from([0xe9])]);

/** A sealed directory, as from a build. */
async function sealed(text: string): Promise<string> {
  count += 1;
  const layer = join(testDirectory, `layer-${count}`);
  await mkdir(join(layer, "bin"), { recursive: true });
  await writeFile(join(layer, "bin", "tool"), `#!/bin/sh\n${text}`);
  await chmod(join(layer, "bin", "tool"), 0o555);
  await writeFile(join(layer, "größe – 大.txt"), text);
  await chmod(join(layer, "größe – 大.txt"), 0o444);
  await writeFile(nonUnicodeName(layer), text);
  await symlink("/opt/python/bin/python3", join(layer, "bin", "python"));
  await symlink("tool", join(layer, "bin", "link"));
  await chmod(join(layer, "bin"), 0o555);
  return layer;
}

test("a layer is unpacked on another host as it was stored: files, links and modes", async () => {
  const { digest } = await otherHost().add(await sealed("hello"), { name: nameOf("a"), maxBytes });
  const path = await otherHost().get(digest);
  expect(await readFile(join(path, "bin/tool"), "utf8")).toBe("#!/bin/sh\nhello");
  expect(await readFile(join(path, "größe – 大.txt"), "utf8")).toBe("hello");
  expect(await readlink(join(path, "bin/python"))).toBe("/opt/python/bin/python3");
  expect(await readlink(join(path, "bin/link"))).toBe("tool");
  expect(await readFile(nonUnicodeName(path), "utf8")).toBe("hello");
  const mode = async (name: string) => (await lstat(join(path, name))).mode & 0o7777;
  expect([await mode("bin"), await mode("bin/tool"), await mode("größe – 大.txt")]).toEqual([0o555, 0o555, 0o444]);
});

test("the same files have the same digest, regardless of user and time", async () => {
  const first = await otherHost().add(await sealed("same"), { name: nameOf("b"), maxBytes });
  const later = await sealed("same");
  await utimes(join(later, "bin", "tool"), new Date(0), new Date(0));
  const second = await otherHost().add(later, { name: nameOf("c"), maxBytes });
  expect(second).toEqual(first);
  expect(await otherHost().find(nameOf("b"))).toEqual(first);
  expect(await otherHost().find(nameOf("c"))).toEqual(first);
  expect(await otherHost().find(nameOf("never"))).toBeNull();
});

test("BLD-1 a layer that was truncated or altered in the store is refused and can be built again", async () => {
  for (const damage of ["cut", "altered"] as const) {
    const { digest } = await otherHost().add(await sealed(damage), { name: nameOf(damage), maxBytes });
    const blob = join(testDirectory, "artifacts/blobs", digest);
    const bytes = await readFile(blob);
    if (damage === "cut") await truncate(blob, bytes.length - 20);
    else await writeFile(blob, Buffer.concat([bytes.subarray(0, 40), Buffer.from("x"), bytes.subarray(41)]));
    const directory = join(testDirectory, `damaged-${damage}`);
    const cache = createLayerCache({ store, directory });
    await expect(cache.get(digest)).rejects.toMatchObject({ code: "digest_mismatch" });
    expect(await readdir(join(directory, "incoming"))).toEqual([]);
    // The next build makes it again.
    expect(await cache.find(nameOf(damage))).toBeNull();
    await store.add(Readable.from([bytes]));
    expect(await readFile(join(await cache.get(digest), "bin/tool"), "utf8")).toContain(damage);
  }
});

test("concurrent callers fetch a layer once, and it needs no store afterwards", async () => {
  const { digest } = await otherHost().add(await sealed("once"), { name: nameOf("once"), maxBytes });
  let fetched = 0;
  const counting = {
    ...store,
    get: (each: string) => {
      fetched += 1;
      return store.get(each);
    },
  };
  const cache = createLayerCache({ store: counting, directory: join(testDirectory, "counting") });
  const paths = await Promise.all(Array.from({ length: 10 }, () => cache.get(digest)));
  expect([new Set(paths).size, fetched]).toEqual([1, 1]);
  await store.delete(digest, { unusedSince: new Date(Date.now() + 1000) });
  expect(await cache.get(digest)).toBe(paths[0]);
  await expect(otherHost().get(digest)).rejects.toMatchObject({ code: "not_found" });
});

test("a directory whose apparent size exceeds the limit is refused, even if it is sparse", async () => {
  const layer = await sealed("sparse");
  await writeFile(join(layer, "sparse"), "");
  await truncate(join(layer, "sparse"), 50 * 1024 * 1024);
  await expect(otherHost().add(layer, { name: nameOf("sparse"), maxBytes })).rejects.toMatchObject({
    code: "too_large",
  });
  expect(await otherHost().find(nameOf("sparse"))).toBeNull();
});

test("RUN-8 evict keeps layers of running servers and those just used", async () => {
  const directory = join(testDirectory, "evicting");
  const cache = createLayerCache({ store, directory });
  const add = async (text: string) => (await cache.add(await sealed(text), { name: nameOf(text), maxBytes })).digest;
  const [used, fresh, old] = [await add("used"), await add("fresh"), await add("old")];
  const hoursAgo = new Date(Date.now() - 3 * 3_600_000);
  for (const digest of [used, old]) await utimes(await cache.get(digest), hoursAgo, hoursAgo);
  expect(await cache.evict({ inUse: new Set([used]), unusedForMs: 0 })).toEqual([old]);
  for (const digest of [used, fresh]) await lstat(await cache.get(digest));
  // Gone from this host only.
  expect(await readFile(join(await cache.get(old), "bin/tool"), "utf8")).toContain("old");
  expect(await readdir(join(directory, "incoming"))).toEqual([]);
});

test("RUN-8 what a process that is killed while it fetches a layer leaves is removed when the next one opens the cache", async () => {
  const directory = join(testDirectory, "killed");
  const module = new URL("./layer-cache.ts", import.meta.url).href;
  const code = `
    import { Readable } from "node:stream";
    const { createLayerCache } = await import("${module}");
    const store = { get: async () => Readable.from((async function* () {
      yield Buffer.from("the beginning");
      process.stdout.write("begun");
      await new Promise(() => setInterval(() => {}, 1000));
    })()) };
    await createLayerCache({ store, directory: "${directory}" }).get("a".repeat(64));`;
  const killed = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  await once(killed.stdout, "data");
  const left = () => readdir(join(directory, "incoming"));
  await expect.poll(left).toHaveLength(1);
  killed.kill("SIGKILL");
  await once(killed, "close");
  const { digest } = await otherHost().add(await sealed("killed"), { name: nameOf("killed"), maxBytes });
  await createLayerCache({ store, directory }).get(digest);
  await expect.poll(left).toEqual([]);
});

test("entries of an earlier boot are not trusted: they are fetched again", async () => {
  const { digest } = await otherHost().add(await sealed("boot"), { name: nameOf("boot"), maxBytes });
  const directory = join(testDirectory, "rebooted");
  const earlier = join(directory, "boot-00000000-0000-0000-0000-000000000000", digest);
  await mkdir(join(earlier, "bin"), { recursive: true });
  await writeFile(join(earlier, "bin/tool"), "");
  const path = await createLayerCache({ store, directory }).get(digest);
  expect(await readFile(join(path, "bin/tool"), "utf8")).toContain("boot");
  expect((await readdir(directory)).filter((name) => name.startsWith("boot-"))).toHaveLength(1);
});

test.runIf(isThorough)(
  "RUN-8 a layer is unpacked even if tar stops reading before the end of the padding",
  async () => {
    const { digest } = await otherHost().add(await sealed("padded"), { name: nameOf("padded"), maxBytes });
    for (let round = 0; round < 20; round++)
      expect(await readFile(join(await otherHost().get(digest), "bin/tool"), "utf8")).toContain("padded");
  },
);

test("RUN-3 a layer contains no set-user-id programs, which would run as the platform's user", async () => {
  const layer = await sealed("privileged");
  await chmod(join(layer, "bin", "tool"), 0o6555);
  const { digest } = await otherHost().add(layer, { name: nameOf("privileged"), maxBytes });
  expect((await lstat(join(await otherHost().get(digest), "bin/tool"))).mode & 0o7777).toBe(0o555);
});

test("LOG-6 a disk that fills while a layer is stored is the error that is reported, and nothing of the layer stays", async () => {
  const layer = await sealed("too much");
  // tar is far from its end when the store fails.
  await writeFile(join(layer, "holes"), "");
  await truncate(join(layer, "holes"), 64 * 1024 * 1024);
  const full = Object.assign(new Error("no space left on device, write"), { code: "ENOSPC" });
  const fullStore: ArtifactStore = { ...store, add: () => Promise.reject(full) };
  const host = createLayerCache({ store: fullStore, directory: join(testDirectory, "full-host") });
  await expect(host.add(layer, { name: nameOf("full"), maxBytes: 100 * 1024 * 1024 })).rejects.toBe(full);
  expect(await host.find(nameOf("full"))).toBeNull();
});

test("RUN-8 layers of the first release are used where they are; the store's and missing ones are as before", async () => {
  const root = join(testDirectory, "first-release");
  const data = openIn(root);
  const [dependencies, code, missing] = ["dependencies", "code", "missing"].map(nameOf) as [string, string, string];
  for (const [kind, name] of [
    ["deps", dependencies],
    ["code", code],
  ] as const) {
    await mkdir(join(root, "artifacts", kind), { recursive: true });
    await rename(await sealed(kind), join(root, "artifacts", kind, name));
  }
  expect(await data.layers.get(dependencies)).toBe(join(root, "artifacts", "deps", dependencies));
  expect(await readFile(join(await data.layers.get(code), "bin/tool"), "utf8")).toContain("code");
  const { digest } = await data.layers.add(await sealed("new"), { name: nameOf("new"), maxBytes });
  expect(await data.layers.missing([dependencies, code, digest, missing])).toEqual(new Set([missing]));
  await expect(data.layers.get(missing)).rejects.toMatchObject({ code: "not_found" });
  expect((await data.firstRelease.list()).map(({ name }) => name)).toEqual([dependencies, code]);
});
