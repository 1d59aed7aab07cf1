import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cacheOf, discardCachesOfEarlierBoot } from "./caches.ts";

test("RUN-8 caches that were written before the machine started again are not used: a power cut may have left half of them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "towpath-caches-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const cache = cacheOf(directory, "organization");
  await mkdir(cache, { recursive: true });
  // Of a release that didn't say.
  await discardCachesOfEarlierBoot(directory);
  await discardCachesOfEarlierBoot(directory);
  expect(existsSync(cache)).toBe(true);

  await writeFile(join(directory, "cache/uv-boot"), "another");
  await discardCachesOfEarlierBoot(directory);
  expect(existsSync(cache)).toBe(false);
  expect(await readdir(join(directory, "trash"))).toHaveLength(1);
  // Builds have begun; a second process that has read the old mark is late.
  await mkdir(cache, { recursive: true });
  await writeFile(join(directory, "cache/uv-boot"), "another");
  await writeFile(join(directory, "trash", (await readdir(join(directory, "trash")))[0] ?? "", "kept"), "");
  await discardCachesOfEarlierBoot(directory);
  expect(existsSync(cache)).toBe(true);
});
