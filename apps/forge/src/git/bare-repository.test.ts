import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { initRepository, packObjects } from "./bare-repository.ts";
import { gitText, runGit } from "./run-git.ts";

test("LOG-6 loose objects of the forge's repositories are packed once they are many, and none is lost", async () => {
  const parent = await mkdtemp(join(tmpdir(), "towpath-gc-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const directory = join(parent, "1.git");
  await initRepository(directory);
  // git estimates how many there are from one of 256 directories: enough that this one holds some.
  const files = Array.from({ length: 600 }, (_, at) => join(parent, `file-${at}`));
  await Promise.all(files.map((file, at) => writeFile(file, `blob ${at}`)));
  const written = await gitText(["hash-object", "-w", "--stdin-paths"], { directory, input: files.join("\n") });
  const blobs = written.trim().split("\n");
  const entries = blobs.map((sha, at) => `100644 blob ${sha}\tfile-${at}\n`).join("");
  const tree = (await gitText(["mktree"], { directory, input: entries })).trim();
  await runGit(["update-ref", "refs/tags/tree", tree], { directory });
  const loose = async () => (await readdir(join(directory, "objects"))).filter((name) => name.length === 2).length;
  await packObjects(directory, 100_000);
  expect(await loose()).toBeGreaterThan(100);
  await packObjects(directory, 100);
  expect(await loose()).toBe(0);
  for (const sha of [tree, ...blobs.slice(0, 5)]) {
    expect((await gitText(["cat-file", "-t", sha], { directory })).trim()).toMatch(/tree|blob/);
  }
});
