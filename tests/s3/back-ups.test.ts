import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { BackupError, backupScheduleSchema, makeScheduledBackup, verifyBackup } from "@towpath/backup";
import { makeInstance, type TestInstance } from "@towpath/backup/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type S3Service, startVersitygw } from "./versitygw.ts";

let instance: TestInstance;
let service: S3Service;
beforeAll(async () => {
  instance = await makeInstance();
  service = await startVersitygw(join(instance.directory, "buckets"));
  await service.newBucket("copies");
});
afterAll(async () => {
  await service.stop();
  await instance.close();
});

function make(day: number, settings: Readonly<Record<string, string>> = {}) {
  const schedule = backupScheduleSchema.parse({
    TOWPATH_BACKUP_TO: "s3://copies/of/towpath",
    TOWPATH_BACKUP_RECIPIENTS: instance.recipient.publicKeys.join(),
    TOWPATH_BACKUP_KEEP: "2",
    ...service.settings,
    ...settings,
  });
  if (schedule === null) throw new Error("the settings name no place");
  const now = new Date(Date.UTC(2026, 10, day, 9));
  return makeScheduledBackup(instance, schedule, { now, signal: new AbortController().signal });
}

test("OPS-3 scheduled back-ups go to a bucket, where the newest are kept, and a refusal is named", async () => {
  for (const day of [24, 25, 26]) await make(day);
  const kept = await readdir(join(service.directory, "copies/of/towpath"));
  expect(kept.toSorted()).toEqual(["towpath-20261125T090000Z.age", "towpath-20261126T090000Z.age"]);
  const newest = join(service.directory, "copies/of/towpath/towpath-20261126T090000Z.age");
  expect((await verifyBackup({ file: newest, identity: instance.identity })).manifest.servers).toBe(1);
  // Nothing of them stays on this host.
  expect(await readdir(join(instance.dataDirectory, "trash"))).toEqual([]);
  const refused = make(27, { TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "another" });
  await expect(refused).rejects.toThrow(BackupError);
  await expect(refused).rejects.toThrow(/^The bucket of back-ups failed to answer a PUT request: 403 \w+\.$/);
  await expect(make(27, { TOWPATH_BACKUP_TO: "s3://absent" })).rejects.toThrow("the bucket doesn't exist");
});
