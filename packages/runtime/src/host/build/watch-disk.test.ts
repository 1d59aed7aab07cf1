import { execFileSync } from "node:child_process";
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

test("RUN-1 a build's writes count, in its directory and in the cache, but not the cache's earlier content", async () => {
  // Less space is free, so both are measured: by what others write too.
  await write("of-others", 40);
  await write("build/work/file", 8);
  // Several checks, of which none stops the build.
  await sleep(400);
  expect(watch.reason()).toBeNull();
  await write("cache/new", 10);
  await write("of-others-again", 40);
  await expect.poll(watch.reason, patience).toBe("disk-limit");
});

test("RUN-1 a build can't hide its writes to the cache behind an old time", async () => {
  await write("cache/new", 24);
  await utimes(join(root, "cache/new"), 0, 0);
  await expect.poll(watch.reason, patience).toBe("disk-limit");
});

test("RUN-1 a build that makes more files than it may is stopped, however small they are", async () => {
  watch.stop();
  watch = watchDisk({
    directory: join(root, "build"),
    cache: join(root, "cache"),
    maxBytes: 16 * MiB,
    minFreeBytes: 0,
    maxEntries: 100,
  });
  watch.start();
  for (let at = 0; at < 200; at += 1) await writeFile(join(root, `build/work/${at}`), "");
  // Less space is free, so it is measured at once.
  await write("of-others", 40);
  await expect.poll(watch.reason, patience).toBe("disk-limit");
});

test.runIf(process.getuid?.() === 0)(
  "RUN-1 a build is stopped before it takes a file system's last inodes",
  async () => {
    watch.stop();
    const small = join(root, "small");
    await mkdir(small);
    execFileSync("/usr/bin/mount", ["-t", "tmpfs", "-o", "nr_inodes=1000", "tmpfs", small]);
    try {
      await Promise.all([mkdir(join(small, "build")), mkdir(join(small, "cache"))]);
      watch = watchDisk({
        directory: join(small, "build"),
        cache: join(small, "cache"),
        maxBytes: 16 * MiB,
        minFreeBytes: 0,
      });
      watch.start();
      await sleep(100);
      expect(watch.reason()).toBeNull();
      for (let at = 0; at < 990; at += 1) await writeFile(join(small, `build/${at}`), "");
      await expect.poll(watch.reason, patience).toBe("disk-full");
    } finally {
      watch.stop();
      execFileSync("/usr/bin/umount", ["-l", small]);
    }
  },
);
