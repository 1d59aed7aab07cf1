import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { artifactsConfigSchema } from "@towpath/artifacts";
import { artifactStoreContract, s3Blobs } from "@towpath/artifacts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type S3Service, startVersitygw } from "./versitygw.ts";

let directory: string;
let service: S3Service;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-s3-"));
  service = await startVersitygw(join(directory, "buckets"));
});
afterAll(async () => {
  await service.stop();
  await rm(directory, { recursive: true });
});

function blobsIn(address: string, settings: Readonly<Record<string, string>> = {}) {
  const config = artifactsConfigSchema.parse({ ...service.settings, TOWPATH_ARTIFACTS: address, ...settings });
  if (config === null) throw new Error("the settings name no bucket");
  return s3Blobs(config);
}

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function file(bytes: Uint8Array): Promise<string> {
  const path = join(directory, "file");
  await writeFile(path, bytes);
  return path;
}

artifactStoreContract("versitygw", async () => {
  await service.newBucket("contract");
  return { blobs: blobsIn("s3://contract/some/prefix"), incoming: join(directory, "incoming") };
});

test("OPS-13 the service refuses bytes with another digest, and keeps what it has when they come again", async () => {
  await service.newBucket("refusing");
  const blobs = blobsIn("s3://refusing");
  const bytes = randomBytes(1000);
  const digest = digestOf(bytes);
  const other = await file(randomBytes(1000));
  await expect(blobs.put(digest, other)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/PUT request: 400 XAmzContentSHA256Mismatch/),
  });
  expect(await blobs.has(digest)).toBe(false);
  await blobs.put(digest, await file(bytes));
  await blobs.put(digest, other);
  expect(Buffer.concat(await all(await blobs.get(digest))).equals(bytes)).toBe(true);
  expect(await all(blobs.list())).toEqual([digest]);
});

test("OPS-13 an address needs no key, is for one blob and one method, and takes no other bytes", async () => {
  await service.newBucket("addresses");
  const { addresses, ...blobs } = blobsIn("s3://addresses/of");
  if (addresses === undefined) throw new Error("a bucket has addresses");
  const bytes = randomBytes(100_000);
  const digest = digestOf(bytes);
  const { url, headers } = await addresses.put(digest, 60_000);
  const send = (body: Buffer<ArrayBuffer>, more: RequestInit = {}) =>
    fetch(url, { method: "PUT", body, headers, ...more });
  expect((await send(randomBytes(100_000))).status).toBe(400);
  expect((await send(bytes, { headers: {} })).status).toBe(403);
  expect(
    (await fetch(url.replace(digest, digestOf(randomBytes(1))), { method: "PUT", body: bytes, headers })).status,
  ).toBe(403);
  expect(await blobs.has(digest)).toBe(false);
  expect((await send(bytes)).status).toBe(200);
  const address = await addresses.get(digest, 60_000);
  expect(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(bytes)).toBe(true);
  expect((await fetch(address, { method: "DELETE" })).status).toBe(403);
  expect(await blobs.has(digest)).toBe(true);
});

test("OPS-13 a large file is stored and read in pieces", async () => {
  await service.newBucket("large");
  const blobs = blobsIn("s3://large");
  const bytes = randomBytes(40 * 1024 * 1024);
  await blobs.put(digestOf(bytes), await file(bytes));
  const pieces = await all(await blobs.get(digestOf(bytes)));
  expect(pieces.length).toBeGreaterThan(100);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});

test("OPS-13 a listing continues after a thousand, and leaves out other objects", async () => {
  await service.newBucket("many");
  const names = Array.from({ length: 2100 }, (_, at) => digestOf(Buffer.from(String(at))));
  await mkdir(join(service.directory, "many", "of"));
  for (const name of names) await writeFile(join(service.directory, "many", "of", name), "");
  await writeFile(join(service.directory, "many", "of", "zebra & horse.txt"), "");
  await writeFile(join(service.directory, "many", names[0] ?? ""), "");
  expect((await all(blobsIn("s3://many/of").list())).toSorted()).toEqual(names.toSorted());
  expect(await all(blobsIn("s3://many").list())).toEqual(names.slice(0, 1));
});

test("OPS-13 a wrong key, a bucket that doesn't exist and a service that doesn't answer are reported as such", async () => {
  const path = await file(Buffer.from("x"));
  const digest = digestOf(Buffer.from("x"));
  const problems = [
    [blobsIn("s3://absent"), /the bucket doesn't exist/],
    [blobsIn("s3://absent", { TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "wrong" }), /403 SignatureDoesNotMatch/],
    [blobsIn("s3://absent", { TOWPATH_ARTIFACTS_ENDPOINT: "http://127.0.0.1:1" }), /got no answer/],
  ] as const;
  for (const [blobs, message] of problems) {
    const problem = { code: "unavailable", message: expect.stringMatching(message) };
    await expect(all(blobs.list())).rejects.toMatchObject(problem);
    await expect(blobs.put(digest, path)).rejects.toMatchObject({ code: "unavailable" });
  }
});
