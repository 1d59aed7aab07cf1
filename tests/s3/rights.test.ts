import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkBucket } from "@towpath/artifacts";
import { s3Blobs } from "@towpath/artifacts/testing";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { bucketOf, type S3Service, startVersitygw } from "./versitygw.ts";

let directory: string;
let service: S3Service;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-rights-"));
  service = await startVersitygw(join(directory, "buckets"));
});
afterAll(async () => {
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});
afterEach(() => void vi.useRealTimers());

const needed = ["s3:ListBucket", "s3:PutObject", "s3:GetObject", "s3:DeleteObject"];
const useful = ["s3:AbortMultipartUpload", "s3:ListBucketMultipartUploads"];

async function missingWithout(absent: readonly string[]) {
  const bucket = ["without", ...absent].join("-").replaceAll("s3:", "").toLowerCase();
  await service.newBucket(bucket);
  const allowed = [...needed, ...useful].filter((each) => !absent.includes(each));
  const found = await checkBucket(bucketOf(`s3://${bucket}/below`, await service.newUser(bucket, allowed)));
  const named = ({ remedy }: { remedy: string }) => /s3:\w+/.exec(remedy)?.[0];
  return { problems: found.problems.map(named), warnings: found.warnings.map(named) };
}

test("OPS-13 each right that the key of a bucket lacks is named, and none that it has", async () => {
  expect(await missingWithout([])).toEqual({ problems: [], warnings: [] });
  expect(await readdir(join(service.directory, "without", "below")).catch(() => [])).toEqual([]);
  for (const each of ["s3:ListBucket", "s3:GetObject", "s3:DeleteObject"])
    expect(await missingWithout([each]), each).toEqual({ problems: [each], warnings: [] });
  // Uploads in parts need it, too.
  const withoutPut = await missingWithout(["s3:PutObject"]);
  expect(withoutPut.problems).toEqual(["s3:PutObject"]);
  for (const each of useful) expect(await missingWithout([each]), each).toEqual({ problems: [], warnings: [each] });
  expect((await missingWithout(["s3:GetObject", "s3:DeleteObject"])).problems).toEqual([
    "s3:GetObject",
    "s3:DeleteObject",
  ]);
});

test("OPS-13 a clock that is off is named with how far, in either direction", async () => {
  await service.newBucket("late");
  const config = bucketOf("s3://late", service.settings);
  for (const [minutes, says] of [
    [61, "the clock of this host is 61 minutes ahead of the service's"],
    [-40, "the clock of this host is 40 minutes behind the service's"],
  ] as const) {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
    await expect(s3Blobs(config).has("0".repeat(64))).rejects.toThrow(says);
    await expect(checkBucket(config)).rejects.toThrow(says);
    vi.useRealTimers();
  }
});
