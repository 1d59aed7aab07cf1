import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openArtifacts } from "@towpath/artifacts";
import { openTestDatabase } from "@towpath/db/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ResolutionMemory } from "./resolution-memory.ts";

const hourMs = 3_600_000;
/** Half an hour before the day ends, by UTC. */
const evening = Date.UTC(2026, 0, 1, 23, 30);
const database = openTestDatabase({ fresh: true });
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "resolutions-"));
  vi.useFakeTimers({ toFake: ["Date"], now: evening });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(directory, { recursive: true, force: true });
});

/** As another worker opens it. */
const memory = (maxAgeMs = 24 * hourMs) =>
  new ResolutionMemory(openArtifacts({ db: database.db, dataDirectory: directory, config: null }).store, maxAgeMs);

test("BLD-3 a resolution is reused for a day, also after midnight and by other workers, and then made again", async () => {
  expect(await memory().recall("key")).toBeNull();
  await memory().remember("key", "six==1.16.0\n");
  vi.setSystemTime(evening + hourMs);
  expect(await memory().recall("key")).toEqual({ list: "six==1.16.0\n", ageMs: hourMs });
  expect(await memory().recall("other")).toBeNull();
  expect(await memory(hourMs / 2).recall("key")).toBeNull();
  vi.setSystemTime(evening + 24 * hourMs + 1);
  expect(await memory().recall("key")).toBeNull();
  await memory().remember("key", "six==1.17.0\n");
  expect(await memory().recall("key")).toEqual({ list: "six==1.17.0\n", ageMs: 0 });
});

test("BLD-3 of two builds that resolve at the same time one is reused, and damaged ones are not", async () => {
  await Promise.all([memory().remember("key", "six==1.16.0\n"), memory().remember("key", "six==1.17.0\n")]);
  expect((await memory().recall("key"))?.list).toMatch(/^six==1\.1[67]\.0\n$/);
  const blobs = join(directory, "artifacts", "blobs");
  for (const name of await readdir(blobs)) await writeFile(join(blobs, name), '{"list":"evil==1","at":0}');
  expect(await memory().recall("key")).toBeNull();
});
