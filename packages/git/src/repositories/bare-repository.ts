import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TowpathError } from "@towpath/core/errors";
import { syncPath } from "@towpath/runtime/sync-path";
import { configEnvironment, type GitSetting } from "../git-environment.ts";
import { GitFailure, type GitRun, gitText, runGit } from "../run-git.ts";
import type { Scratch } from "../scratch.ts";

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The directory of a repository of this instance: named by its id, so that no name ever becomes a path. */
export function directoryOf(parent: string, id: string): string {
  if (!uuid.test(id)) throw new Error(`${id} is no repository's id`);
  return join(parent, `${id}.git`);
}

/** Refs that only this package uses: clients neither see nor write them. */
export const ownRefs = "refs/towpath";

/**
 * Settings of every git process that works on a repository. Git flushes packs and refs by default, but not the loose
 * objects that most pushes become: a power cut left refs without commits. No background packing, which could outlive
 * us.
 */
export const storeSettings: readonly GitSetting[] = [
  ["core.fsync", "committed"],
  ["core.hooksPath", "/dev/null"],
  ["core.logAllRefUpdates", "false"],
  ["core.bigFileThreshold", "16m"],
  ["gc.auto", "0"],
  ["receive.autogc", "false"],
  ["pack.threads", "1"],
  ["pack.windowMemory", "64m"],
  ["transfer.hideRefs", ownRefs],
  // Containers of one instance may run as different users.
  ["safe.directory", "*"],
];

/** A repository in place of a scratch directory: of any size, and kept. */
const placeOf = (directory: string): Scratch => ({
  directory,
  repository: directory,
  maxBytes: Number.POSITIVE_INFINITY,
  // It has no end.
  atEnd: () => {},
  close: async () => {},
});

type Run = Omit<GitRun, "scratch">;

/** How git is run on a stored repository. */
export function runOn(directory: string, run: Run = {}): GitRun {
  return { ...run, scratch: placeOf(directory), env: { ...configEnvironment(storeSettings), ...run.env } };
}

export const gitOn = (directory: string, args: readonly string[], run?: Run): Promise<string> =>
  gitText(args, runOn(directory, run));

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Makes an empty bare repository unless it exists; several processes may do so at once.
 *
 * @throws TowpathError `out_of_storage`
 */
export async function ensureRepository(directory: string, defaultBranch: string): Promise<void> {
  if (await exists(directory)) return;
  const unfinished = `${directory}.${process.pid}-${Math.random().toString(36).slice(2)}.new`;
  try {
    await mkdir(unfinished, { recursive: true, mode: 0o700 });
    // The empty template leaves out the machine's hooks.
    await runGit(["init", "--quiet", "--bare", "--template=", `--initial-branch=${defaultBranch}`], runOn(unfinished));
    // Git flushes what is pushed, but not what makes a directory a repository.
    for (const path of [join(unfinished, "HEAD"), join(unfinished, "config"), unfinished]) await syncPath(path);
    await rename(unfinished, directory);
    await syncPath(dirname(directory));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (await exists(directory)) return;
    throw asStoreProblem(error);
  }
}

export async function setHead(directory: string, branch: string): Promise<void> {
  await runGit(["symbolic-ref", "HEAD", `refs/heads/${branch}`], runOn(directory));
  // Git flushes other refs itself.
  await syncPath(join(directory, "HEAD"));
}

/** More than the clock of a file system may be behind. */
const clockMs = 1000;

/**
 * Flushes the names of the objects and refs that were made since then (milliseconds since 1970). Git flushes their content
 * only: until then a power cut takes the ref of a push that its client believes to be stored.
 */
export async function syncNames(directory: string, since: number): Promise<void> {
  const [objects, refs] = [join(directory, "objects"), join(directory, "refs")];
  const entries = await Promise.all([
    readdir(objects, { withFileTypes: true }),
    readdir(refs, { withFileTypes: true, recursive: true }),
  ]);
  const below = entries.flat().filter((entry) => entry.isDirectory());
  // Objects before what leads to them.
  for (const path of [objects, ...below.map(({ parentPath, name }) => join(parentPath, name)), refs, directory]) {
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs > since - clockMs) await syncPath(path).catch(unlessGone);
  }
}

/** Git removes directories of refs that are empty. */
function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Full names of branches and tags → object ids. */
export async function listRefs(directory: string): Promise<ReadonlyMap<string, string>> {
  return (await exists(directory)) ? refsOf(directory, ["refs/heads", "refs/tags"]) : new Map();
}

/** The same for all refs except this package's internal ones. */
export async function allRefs(directory: string): Promise<Readonly<Record<string, string>>> {
  const refs = await refsOf(directory, []);
  return Object.fromEntries([...refs].filter(([name]) => !name.startsWith(`${ownRefs}/`)));
}

async function refsOf(directory: string, under: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const text = await gitOn(directory, ["for-each-ref", "--format=%(objectname)%09%(refname)", ...under]);
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => [line.slice(line.indexOf("\t") + 1), line.slice(0, line.indexOf("\t"))]));
}

/** The branch that HEAD names; it need not exist. */
export async function headBranch(directory: string): Promise<string> {
  return (await gitOn(directory, ["symbolic-ref", "HEAD"])).trim().replace(/^refs\/heads\//, "");
}

/** The same for branches, with HEAD's branch, in the format of `git ls-remote --symref`. */
export async function remoteListing(directory: string): Promise<string> {
  const [head, refs] = await Promise.all([
    gitOn(directory, ["symbolic-ref", "HEAD"]),
    gitOn(directory, ["for-each-ref", "--format=%(objectname)%09%(refname)", "refs/heads"]),
  ]);
  return `ref: ${head.trim()}\tHEAD\n${refs}`;
}

export const isStored = exists;

/**
 * Packs a repository with many loose objects, and removes objects that no ref has led to for two weeks (LOG-6). Safe
 * during pushes and fetches.
 */
export async function packObjects(directory: string, looseObjects: number): Promise<void> {
  const settings = [`gc.auto=${looseObjects}`, "gc.autoDetach=false", "gc.pruneExpire=2.weeks.ago"];
  const args = [...settings.flatMap((setting) => ["-c", setting]), "gc", "--auto", "--quiet"];
  await runGit(args, runOn(directory, { timeoutMs: 10 * 60_000 }));
}

const full = /No space left on device|Disk quota exceeded/;

/** A full disk as a public error. Other errors are returned unchanged. */
export function asStoreProblem(error: unknown): unknown {
  const message = error instanceof GitFailure ? error.stderr : error instanceof Error ? error.message : "";
  if (!full.test(message) && !(error instanceof Error && "code" in error && error.code === "ENOSPC")) return error;
  return new TowpathError("out_of_storage", "The disk of this instance is full. Ask the operator to make room.", {
    cause: error,
  });
}
