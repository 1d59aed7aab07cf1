import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { openTestDatabase } from "@towpath/db/testing";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { createArtifactStore } from "./artifact-store.ts";
import { directoryBlobs } from "./directory-blobs.ts";
import { openArtifacts } from "./index.ts";
import type { BlobStore } from "./port.ts";
import { artifactStoreContract } from "./testing/contract.ts";

let directory = "";
const database = openTestDatabase();
beforeAll(async () => {
  directory = await shortDirectory();
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const digestOf = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");
const blobsIn = (root: string) => readdir(join(root, "blobs")).catch(() => []);

artifactStoreContract("directory", async () => ({
  blobs: directoryBlobs(join(directory, "contract/blobs")),
  incoming: join(directory, "contract/incoming"),
}));

const storeWith = (blobs: Partial<BlobStore>) =>
  createArtifactStore({
    db: database.db,
    blobs: { ...directoryBlobs(join(directory, "blobs")), ...blobs },
    incoming: join(directory, "incoming"),
  });

test("BLD-1 what others upload is read again before it counts as stored", async () => {
  const [bytes, wrong] = [randomBytes(1000), randomBytes(1000)];
  const digest = digestOf(bytes);
  const deleted: string[] = [];
  const addresses = { get: async () => "", put: async (of: string) => ({ url: of, headers: {} }) };
  const holding = (sent: Buffer): Partial<BlobStore> => ({
    addresses,
    has: async () => false,
    get: async () => Readable.from([sent.subarray(0, 10), sent.subarray(10)]),
    delete: async (of) => void deleted.push(of),
  });
  const urls: string[] = [];
  const upload = async ({ url }: { url: string }) => void urls.push(url);
  const refused = storeWith(holding(wrong)).receive(digest, 1000, upload);
  await expect(refused).rejects.toMatchObject({ code: "digest_mismatch" });
  expect(deleted).toEqual([digest]);
  await storeWith(holding(bytes)).receive(digest, 1000, upload);
  expect(urls).toEqual([digest, digest]);
  // Bytes that are there aren't sent again.
  await storeWith({ ...holding(bytes), has: async () => true }).receive(digest, 1000, upload);
  expect(urls).toHaveLength(2);
  const without = storeWith({ addresses: undefined });
  for (const asked of [without.receive(digest, 1000, upload), without.address(digest, 1000)])
    await expect(asked).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("TOWPATH_ARTIFACTS"),
    });
});

const addSlowly = fileURLToPath(new URL("./testing/add-slowly.ts", import.meta.url));
const addLarge = fileURLToPath(new URL("./testing/add-large.ts", import.meta.url));

function start(script: string, root: string, argv: readonly string[] = [process.execPath]) {
  const [program = "", ...before] = argv;
  return spawn(program, [...before, script, root, database.url], { stdio: ["ignore", "pipe", "inherit"] });
}

test.runIf(isThorough)(
  "RUN-8 a process killed while storing leaves no artifact, and its partial file is removed later",
  async () => {
    const dataDirectory = join(directory, "killed");
    const root = join(dataDirectory, "artifacts");
    const child = start(addSlowly, root);
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "close");
    const { store } = openArtifacts({ db: database.db, dataDirectory, config: null });
    expect(await blobsIn(root)).toEqual([]);
    expect(await readdir(join(root, "incoming"))).toHaveLength(1);
    expect(await store.removeIncomplete(60_000)).toBe(0);
    expect(await store.removeIncomplete(-1000)).toBe(1);
    expect(await readdir(join(root, "incoming"))).toEqual([]);
  },
);

test("RUN-8 a partial write stores nothing, so no artifact is truncated", async () => {
  const root = join(directory, "full");
  // With a limit of 64 KiB per file the kernel writes a part of the last chunk, as on a full disk.
  const child = start(addLarge, root, ["/bin/bash", "-c", 'ulimit -f 64 && exec "$@"', "bash", process.execPath]);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  await once(child, "close");
  expect(output).toBe("EFBIG");
  expect(await readdir(join(root, "incoming"))).toEqual([]);
  expect(await blobsIn(root)).toEqual([]);
});

test("RUN-8 artifacts and tags of a data directory from before the database knew them are registered there, once", async () => {
  const dataDirectory = join(directory, "earlier");
  const root = join(dataDirectory, "artifacts");
  const [digest, tag, lost] = [digestOf("layer"), digestOf("inputs"), digestOf("lost")];
  await mkdir(join(root, "blobs"), { recursive: true });
  await mkdir(join(root, "tags"));
  await mkdir(join(root, "tagged", digest), { recursive: true });
  await writeFile(join(root, "blobs", digest), "layer");
  await writeFile(join(root, "tags", tag), digest);
  await writeFile(join(root, "tags", lost), lost);
  await writeFile(join(root, "tagged", digest, tag), "");

  const { store, registerExisting } = openArtifacts({ db: database.db, dataDirectory, config: null });
  expect(await store.resolve(tag)).toBeNull();
  // Several workers start at the same time, and again later.
  await Promise.all([registerExisting(), registerExisting()]);
  expect([await store.resolve(tag), await store.resolve(lost)]).toEqual([digest, null]);
  expect((await readdir(root)).toSorted()).toEqual(["blobs"]);
  await registerExisting();
  expect(await store.unusedSince(new Date(Date.now() + 1000))).toContain(digest);
  expect(await store.delete(digest, { unusedSince: new Date(Date.now() + 1000) })).toBe(true);
  expect([await store.resolve(tag), await blobsIn(root)]).toEqual([null, []]);
});
