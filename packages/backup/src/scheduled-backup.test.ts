import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BackupError, backupScheduleSchema, makeScheduledBackup, verifyBackup } from "./index.ts";
import { makeInstance, type TestInstance } from "./testing/instance.ts";

const { signal } = new AbortController();
let instance: TestInstance;
beforeAll(async () => {
  instance = await makeInstance();
});
afterAll(() => instance.close());

const publicKey = "age1ejespc87z4ese6stddhqf5q8gze4k07ucepf0wdv6xhjv45w23ds26924y";
const scheduleOf = (more: Readonly<Record<string, string>>) =>
  backupScheduleSchema.parse({ TOWPATH_BACKUP_RECIPIENTS: publicKey, ...more });

test("OPS-3 scheduled back-ups go to a directory, where the newest are kept and nothing else is removed", async () => {
  const path = join(instance.directory, "back-ups");
  const { publicKeys } = instance.recipient;
  const schedule = { place: { kind: "directory", path }, publicKeys, everyHours: 24, keep: 2 } as const;
  const make = (day: number) =>
    makeScheduledBackup(instance, schedule, { now: new Date(Date.UTC(2026, 10, day, 9)), signal });
  const first = await make(24);
  expect(first).toEqual({ name: "towpath-20261124T090000Z.age", bytes: expect.any(Number), removed: [] });
  await writeFile(join(path, "towpath-by-hand.age"), "");
  await writeFile(join(path, "towpath-20261124T100000Z.age.unfinished"), "");
  expect((await make(25)).removed).toEqual(["towpath-20261124T100000Z.age.unfinished"]);
  expect((await make(26)).removed).toEqual([first.name]);
  const kept = ["towpath-20261125T090000Z.age", "towpath-20261126T090000Z.age", "towpath-by-hand.age"];
  expect((await readdir(path)).toSorted()).toEqual(kept);
  const newest = await verifyBackup({ file: join(path, kept[1] ?? ""), identity: instance.identity });
  expect(newest.manifest.servers).toBe(1);
  // A failed one removes none, and says why.
  const atFile = { ...schedule, place: { kind: "directory", path: join(path, "towpath-by-hand.age") } } as const;
  const failing = makeScheduledBackup(instance, atFile, { now: new Date(), signal });
  await expect(failing).rejects.toThrow(BackupError);
  await expect(failing).rejects.toThrow(/^It can't be written\. EEXIST: .*towpath-by-hand\.age'\.$/);
  const bucket = { url: "http://127.0.0.1:1/x", prefix: "", region: "r", accessKeyId: "a", secretAccessKey: "s" };
  const inBucket = { ...schedule, place: { kind: "bucket", bucket } } as const;
  const toBucket = makeScheduledBackup(instance, inBucket, { now: new Date(), signal });
  await expect(toBucket).rejects.toThrow(BackupError);
  await expect(toBucket).rejects.toThrow("The bucket of back-ups failed to answer a PUT request: got no answer.");
  await rm(join(instance.dataDirectory, "instance.json"));
  await expect(make(27)).rejects.toThrow("There is no instance in");
  expect((await readdir(path)).toSorted()).toEqual(kept);
});

test("OPS-3 without a place none are made; faulty settings are listed at once", () => {
  expect(backupScheduleSchema.parse({})).toBeNull();
  const bucket = { TOWPATH_ARTIFACTS_ACCESS_KEY_ID: "id", TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "secret" };
  expect(scheduleOf({ TOWPATH_BACKUP_TO: "s3://copies/towpath", TOWPATH_BACKUP_KEEP: "3", ...bucket })).toMatchObject({
    place: { kind: "bucket", bucket: { url: "https://copies.s3.us-east-1.amazonaws.com", prefix: "towpath/" } },
    everyHours: 24,
    keep: 3,
  });
  const problems = (values: Readonly<Record<string, string>>) =>
    backupScheduleSchema.safeParse(values).error?.issues.map(({ path, message }) => `${path.join()} ${message}`);
  expect(problems({ TOWPATH_BACKUP_TO: "back-ups", TOWPATH_BACKUP_KEEP: "0" })).toEqual([
    "TOWPATH_BACKUP_TO must be an absolute path, or s3://BUCKET/PREFIX",
    expect.stringContaining("TOWPATH_BACKUP_KEEP"),
    "TOWPATH_BACKUP_RECIPIENTS is missing, and TOWPATH_BACKUP_TO is set",
  ]);
  expect(problems({ TOWPATH_BACKUP_TO: "s3://copies", TOWPATH_BACKUP_RECIPIENTS: `${publicKey},ssh-rsa` })).toEqual([
    "TOWPATH_BACKUP_RECIPIENTS must be public keys of age (age1…), separated by commas",
    "TOWPATH_ARTIFACTS_ACCESS_KEY_ID is missing, and TOWPATH_BACKUP_TO names a bucket",
    "TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY is missing, and TOWPATH_BACKUP_TO names a bucket",
  ]);
  expect(problems({ TOWPATH_BACKUP_TO: "/back-ups" })).toEqual([
    "TOWPATH_BACKUP_RECIPIENTS is missing, and TOWPATH_BACKUP_TO is set",
  ]);
});
