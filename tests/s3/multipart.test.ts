import { execFile, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createBucketRequests, s3Blobs } from "@towpath/artifacts/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type BreakingProxy, startBreakingProxy } from "./breaking-proxy.ts";
import { bucketOf, type S3Service, startVersitygw } from "./versitygw.ts";

const [mib, partBytes] = [1024 * 1024, 16 * 1024 * 1024];
const program = join(import.meta.dirname, "put-large.ts");

let directory: string;
let service: S3Service;
let file: string;
let digest: string;
const size = 8 * partBytes - 1000;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-parts-"));
  service = await startVersitygw(join(directory, "buckets"));
  file = join(directory, "large");
  const written = await open(file, "w");
  const hash = createHash("sha256");
  for (let left = size; left > 0; left -= mib) {
    const bytes = randomBytes(Math.min(left, mib));
    hash.update(bytes);
    await written.write(bytes);
  }
  await written.close();
  digest = hash.digest("hex");
});
afterAll(async () => {
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

async function behindProxy(): Promise<{ proxy: BreakingProxy; settings: Readonly<Record<string, string>> }> {
  const proxy = await startBreakingProxy(service.settings.TOWPATH_ARTIFACTS_ENDPOINT ?? "");
  onTestFinished(() => proxy.close());
  return { proxy, settings: { ...service.settings, TOWPATH_ARTIFACTS_ENDPOINT: proxy.endpoint } };
}

async function digestOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest("hex");
}

const later = () => new Date(Date.now() + 60_000);

test("OPS-13 a large file is sent in parts: of those that break each is sent again alone, in little memory", async () => {
  await service.newBucket("parts");
  const { proxy, settings } = await behindProxy();
  // The first connection carries all parts until it breaks.
  proxy.breaks = [
    { direction: "up", afterBytes: 3 * partBytes + 9 * mib },
    { direction: "up", afterBytes: 10 * mib },
  ];
  const argv = ["--expose-gc", program, "s3://parts/of", digest, file];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env: { ...process.env, ...settings } });
  const blobs = s3Blobs(bucketOf("s3://parts/of", service.settings));
  expect(await digestOf(await blobs.get(digest))).toBe(digest);
  expect(proxy.breaks).toEqual([]);
  expect(proxy.passed.up - size).toBeLessThan(2 * partBytes);
  // A part, the one whose connection broke, and what has been read of them ahead.
  expect(Number(stdout)).toBeLessThan(4 * partBytes);
  expect(await blobs.abortUnfinished?.(later())).toBe(0);
});

test("OPS-13 an upload that fails leaves no parts, and a file that changed is not stored", async () => {
  await service.newBucket("failing");
  const { proxy, settings } = await behindProxy();
  const blobs = s3Blobs(bucketOf("s3://failing", settings));
  proxy.breaks = Array.from({ length: 40 }, () => ({ direction: "up", afterBytes: 5 * mib }));
  await expect(blobs.put(digest, file)).rejects.toMatchObject({ code: "unavailable" });
  proxy.breaks = [];
  const other = createHash("sha256").update("other").digest("hex");
  await expect(blobs.put(other, file)).rejects.toMatchObject({ code: "digest_mismatch" });
  expect([await blobs.has(digest), await blobs.has(other)]).toEqual([false, false]);
  expect(await blobs.abortUnfinished?.(later())).toBe(0);
}, 120_000);

test("OPS-13 parts that a killed process left are found and removed later, those of others are not", async () => {
  await service.newBucket("killed");
  const { proxy, settings } = await behindProxy();
  const child = spawn(process.execPath, [program, "s3://killed/ours", digest, file], {
    env: { ...process.env, ...settings },
    stdio: "ignore",
  });
  await expect.poll(() => proxy.passed.up, { timeout: 30_000 }).toBeGreaterThan(partBytes + mib);
  child.kill("SIGKILL");
  await once(child, "close");
  const config = bucketOf("s3://killed/ours", service.settings);
  const requests = createBucketRequests(config, "bucket");
  for (const key of [digest, "theirs/file", `theirs/${digest}`, "ours/another"])
    await requests.ask("POST", requests.url(key, { uploads: "" }));
  const blobs = s3Blobs(config);
  expect(await blobs.abortUnfinished?.(new Date(Date.now() - 60_000))).toBe(0);
  expect(await blobs.abortUnfinished?.(later())).toBe(1);
  expect(await blobs.abortUnfinished?.(later())).toBe(0);
  const left = await requests.ask("GET", requests.url("", { uploads: "" }));
  expect((await left.text()).match(/<UploadId>/g)).toHaveLength(4);
  expect(await blobs.has(digest)).toBe(false);
});

test("OPS-13 a connection that breaks while an object is read is continued where it broke", async () => {
  await service.newBucket("reading");
  const bytes = randomBytes(50 * mib);
  const [name, path] = [createHash("sha256").update(bytes).digest("hex"), join(directory, "fifty")];
  await writeFile(path, bytes);
  const { proxy, settings } = await behindProxy();
  const blobs = s3Blobs(bucketOf("s3://reading", settings));
  await blobs.put(name, path);
  proxy.passed.down = 0;
  proxy.breaks = [30, 8].map((count) => ({ direction: "down", afterBytes: count * mib }));
  expect(await digestOf(await blobs.get(name))).toBe(name);
  expect(proxy.breaks).toEqual([]);
  expect(proxy.passed.down).toBeLessThan(60 * mib);
  proxy.breaks = Array.from({ length: 9 }, () => ({ direction: "down", afterBytes: 100 }));
  await expect(blobs.get(name).then(digestOf)).rejects.toMatchObject({ code: "unavailable" });
  expect(await digestOf(createReadStream(path))).toBe(name);
}, 90_000);
