import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { initRepository, packObjects } from "./bare-repository.ts";
import { gitText, runGit } from "./run-git.ts";

test("OPS-3 GH-3 loose objects are on disk before a ref names them, so a power cut leaves no ref without its commit", async () => {
  const parent = await mkdtemp(join(tmpdir(), "towpath-flush-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const directory = join(parent, "1.git");
  await initRepository(directory);
  const trace = join(parent, "trace");
  const env = { GIT_TRACE2_EVENT: trace };
  await runGit(["hash-object", "-w", "--stdin"], { directory, input: "kept", env });
  expect(await readFile(trace, "utf8")).toContain('"key":"fsync/hardware-flush","value":"1"');
});

test("LOG-6 loose objects of the forge's repositories are packed once they are many, and none is lost", async () => {
  const parent = await mkdtemp(join(tmpdir(), "towpath-gc-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const directory = join(parent, "1.git");
  await initRepository(directory);
  // git estimates how many there are from one of 256 directories: enough that this one holds some.
  const files = Array.from({ length: 600 }, (_, at) => join(parent, `file-${at}`));
  await Promise.all(files.map((file, at) => writeFile(file, `blob ${at}`)));
  const written = await gitText(["-c", "core.fsync=none", "hash-object", "-w", "--stdin-paths"], {
    directory,
    input: files.join("\n"),
  });
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
