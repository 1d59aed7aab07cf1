import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ArtifactError, openBucket } from "@towpath/artifacts";
import type { BackupPlaceConfig, BackupSchedule } from "./config.ts";
import { asFileProblem, type BackedUpInstance, createBackup } from "./create-backup.ts";
import { BackupError } from "./format.ts";

type Place = {
  /** Names of all files in it. */
  list(): Promise<readonly string[]>;
  /** Makes a file of this name with what `write` writes to a new path. Resolves to its size. */
  add(name: string, write: (path: string) => Promise<unknown>): Promise<number>;
  remove(name: string): Promise<void>;
};

type MadeBackup = {
  readonly name: string;
  readonly bytes: number;
  /** Earlier ones that were more than are kept, and what killed workers left. */
  readonly removed: readonly string[];
};

const dayMs = 24 * 3_600_000;
const named = /^towpath-\d{8}T\d{6}Z\.age$/;
/** Of a worker that was killed: one at a time makes back-ups. */
const leftOver = /^towpath-\d{8}T\d{6}Z\.age\.unfinished$/;

type When = { readonly now: Date; readonly signal: AbortSignal };

/**
 * Makes one back-up in the schedule's place, and removes the oldest above the number that is kept.
 *
 * @throws BackupError, also when the place can't be used
 */
export const makeScheduledBackup = (
  instance: BackedUpInstance,
  schedule: NonNullable<BackupSchedule>,
  when: When,
): Promise<MadeBackup> =>
  make(instance, schedule, when).catch((error: unknown) => {
    throw asPlaceProblem(error, schedule);
  });

/** A bucket that refuses, a directory that can't be written: the operator can correct both. */
function asPlaceProblem(error: unknown, { place }: NonNullable<BackupSchedule>): unknown {
  if (error instanceof ArtifactError) return new BackupError(error.message, { cause: error });
  return place.kind === "directory" ? asFileProblem(error, place.path) : error;
}

async function make(
  instance: BackedUpInstance,
  { place: config, publicKeys, keep }: NonNullable<BackupSchedule>,
  options: When,
): Promise<MadeBackup> {
  const place = openPlace(config, join(instance.dataDirectory, "trash"));
  const time = options.now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const name = `towpath-${time}.age`;
  const recipient = { publicKeys };
  const bytes = await place.add(name, (file) =>
    createBackup(instance, { file, recipient, withLayers: false, signal: options.signal }),
  );
  // Their names are in the order of their times.
  const names = (await place.list()).toSorted();
  const ours = names.filter((each) => named.test(each));
  const old = ours.slice(0, Math.max(0, ours.length - keep));
  const removed = [...old, ...names.filter((each) => leftOver.test(each))];
  for (const each of removed) await place.remove(each);
  return { name, bytes, removed };
}

const openPlace = (config: BackupPlaceConfig, scratch: string): Place =>
  config.kind === "directory" ? directoryPlace(config.path) : bucketPlace(config, scratch);

function directoryPlace(directory: string): Place {
  return {
    list: () => readdir(directory),
    async add(name, write) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const path = join(directory, name);
      await write(path);
      return (await stat(path)).size;
    },
    remove: (name) => rm(join(directory, name), { force: true }),
  };
}

/** Written on this host first: the service is sent the digest in front of the bytes. */
function bucketPlace({ bucket: config }: Extract<BackupPlaceConfig, { kind: "bucket" }>, scratch: string): Place {
  const bucket = openBucket(config, "bucket of back-ups");
  return {
    async list() {
      const names: string[] = [];
      for await (const name of bucket.list()) names.push(name);
      // Parts that killed processes left. Not every key may look for them.
      await bucket.abortUnfinished(new Date(Date.now() - dayMs), (name) => named.test(name)).catch(() => {});
      return names;
    },
    async add(name, write) {
      await mkdir(scratch, { recursive: true, mode: 0o700 });
      const path = join(scratch, `backup-${randomUUID()}`);
      try {
        await write(path);
        const hash = createHash("sha256");
        await pipeline(createReadStream(path), hash);
        await bucket.put(name, path, hash.digest("hex"));
        return (await stat(path)).size;
      } finally {
        await rm(path, { force: true });
      }
    },
    remove: (name) => bucket.delete(name),
  };
}
