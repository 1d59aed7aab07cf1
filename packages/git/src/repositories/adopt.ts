import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { runGit } from "../run-git.ts";
import { directoryOf, gitOn, isStored, runOn } from "./bare-repository.ts";

/**
 * Copies a bare repository (branches, tags and objects, borrowed ones included) as the repository `id` into the
 * directory `parent`. Does nothing if that one exists, or if there is nothing to copy. The copy is flushed to disk
 * before it is renamed into place, so that a killed process leaves no partial repository.
 */
export async function adoptRepository(parent: string, { id, from }: { readonly id: string; readonly from: string }) {
  const directory = directoryOf(parent, id);
  if ((await isStored(directory)) || !(await isStored(from))) return;
  const unfinished = `${directory}.${randomUUID()}.new`;
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await cp(from, unfinished, { recursive: true, preserveTimestamps: true });
  const others = await gitOn(unfinished, ["for-each-ref", "--format=delete %(refname)", "refs/pull"]);
  if (others !== "") await runGit(["update-ref", "--stdin"], { ...runOn(unfinished), input: others });
  const borrowed = join(unfinished, "objects", "info", "alternates");
  if (await isStored(borrowed)) {
    await runGit(["repack", "-a", "-d", "-q"], runOn(unfinished, { timeoutMs: 10 * 60_000 }));
    await rm(borrowed);
  }
  await promisify(execFile)("sync", ["--file-system", unfinished]);
  try {
    await rename(unfinished, directory);
  } catch (error) {
    // Another process was faster.
    if (!(await isStored(directory))) throw error;
    await rm(unfinished, { recursive: true, force: true });
  }
}

/**
 * Email addresses of the authors of the root commits of a bare repository's branches; empty for an empty repository.
 */
export async function firstAuthors(directory: string): Promise<ReadonlySet<string>> {
  if (!(await isStored(directory))) return new Set();
  const text = await gitOn(directory, ["log", "--branches", "--max-parents=0", "--format=%ae"]);
  return new Set(text.split("\n").filter((line) => line !== ""));
}
