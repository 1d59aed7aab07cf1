import { randomUUID } from "node:crypto";
import fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Spool } from "./spool.ts";

let root = "";
/** Flushes of files in the background, of files at once, and of directories. */
const flushes = { later: 0, now: 0, directories: 0 };
const original = { ...fs };
/** Other files' spools may still be open in this process. */
const isOurs = (descriptor: number) => fs.readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(root);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tp-sync-"));
  Object.assign(flushes, { later: 0, now: 0, directories: 0 });
  vi.spyOn(fs, "fdatasync").mockImplementation((descriptor, done) => {
    if (isOurs(descriptor)) flushes.later++;
    original.fdatasync(descriptor, done);
  });
  vi.spyOn(fs, "fdatasyncSync").mockImplementation((descriptor) => {
    if (isOurs(descriptor)) flushes.now++;
    original.fdatasyncSync(descriptor);
  });
  vi.spyOn(fs, "fsync").mockImplementation((descriptor, done) => {
    if (isOurs(descriptor)) flushes.directories++;
    original.fsync(descriptor, done);
  });
  vi.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
    if (isOurs(descriptor)) flushes.directories++;
    original.fsyncSync(descriptor);
  });
  syncBuiltinESMExports();
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(root, { recursive: true });
});

const append = (spool: Spool) => {
  const segment = spool.append([{ row: { projectId: "p" }, bytes: 2 }], "1\n");
  if (segment === null) throw new Error("the spool takes nothing");
  return segment;
};

test("GW-10 RUN-8 rows that the database doesn't have yet are flushed to disk in groups, with the name of their file, and again at the end", async () => {
  const spool = await Spool.open(join(root, randomUUID()));
  for (let at = 0; at < 100; at++) append(spool);
  await vi.waitFor(() => expect(flushes).toEqual({ later: 1, now: 0, directories: 1 }), { timeout: 10_000 });
  append(spool);
  await vi.waitFor(() => expect(flushes).toEqual({ later: 2, now: 0, directories: 1 }), { timeout: 10_000 });
  append(spool);
  await spool.close();
  expect(flushes.now).toBe(1);
});

test("GW-10 rows that the database has by then need no flush", async () => {
  const spool = await Spool.open(join(root, randomUUID()));
  spool.release(append(spool), 1, { areWritten: true });
  const kept = append(spool);
  await vi.waitFor(() => expect(flushes.directories).toBe(1), { timeout: 10_000 });
  spool.release(kept, 1, { areWritten: true });
  await spool.close();
  expect(flushes).toEqual({ later: 1, now: 0, directories: 1 });
});
