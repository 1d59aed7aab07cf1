import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DiskWatch, watchDisk } from "./watch-disk.ts";

const MiB = 1024 * 1024;
/** When others free space meanwhile, it is found after 15 s. */
const patience = { timeout: 30_000 };
let root = "";
let watch: DiskWatch;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "towpath-disk-"));
  await mkdir(join(root, "cache"));
  await writeFile(join(root, "cache/old"), Buffer.alloc(32 * MiB, 1));
  // The clock of file times moves every few milliseconds.
  await sleep(20);
  await mkdir(join(root, "build/work"), { recursive: true });
  const directories = { directory: join(root, "build"), cache: join(root, "cache") };
  watch = watchDisk({ ...directories, maxBytes: 16 * MiB, minFreeBytes: 0 });
  watch.start();
  await sleep(100);
});
afterEach(async () => {
  watch.stop();
  await rm(root, { recursive: true, force: true });
});

const write = (path: string, size: number) => writeFile(join(root, path), Buffer.alloc(size * MiB, 1));

test("RUN-1 what a build writes counts, in its directory and in the cache, and not what the cache held before", async () => {
  // Less space is free, so both are measured: by what others write too.
  await write("of-others", 40);
  await write("build/work/file", 8);
  await sleep(400);
  expect(watch.reason()).toBeNull();
  await write("cache/new", 10);
  await write("of-others-again", 40);
  await expect.poll(watch.reason, patience).toBe("disk-limit");
});

test("RUN-1 a build can't hide what it writes to the cache behind an old time", async () => {
  await write("cache/new", 24);
  await utimes(join(root, "cache/new"), 0, 0);
  await expect.poll(watch.reason, patience).toBe("disk-limit");
});
