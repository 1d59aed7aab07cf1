import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { nextIdentity } from "./identity.ts";

test("RUN-8 runners that start at the same moment never share a generation, and later ones have higher ones", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tp-id-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const first = await nextIdentity(directory);
  let highest = first.generation;
  for (let round = 0; round < 20; round++) {
    const started = await Promise.all(Array.from({ length: 5 }, () => nextIdentity(directory)));
    expect(new Set(started.map(({ id }) => id))).toEqual(new Set([first.id]));
    const generations = started.map(({ generation }) => generation);
    expect(new Set(generations).size).toBe(5);
    expect(Math.min(...generations)).toBeGreaterThan(highest);
    highest = (await nextIdentity(directory)).generation;
    expect(highest).toBeGreaterThan(Math.max(...generations));
  }
  expect((await readdir(directory)).length).toBeLessThan(40);
});
