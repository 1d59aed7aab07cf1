import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { GitError, gitText, runGit } from "./run-git.ts";

/** Names a repository's directory by its id, so that no external name ever becomes a path. */
export function repositoryDirectory(forgeDirectory: string, repositoryId: number): string {
  return join(forgeDirectory, "repositories", `${repositoryId}.git`);
}

/** Creates an empty bare repository atomically. Does nothing if it exists. */
export async function initRepository(directory: string): Promise<void> {
  const exists = await stat(directory).then(
    () => true,
    () => false,
  );
  if (exists) return;
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  // The empty template excludes the machine's hooks.
  await runGit(["init", "--quiet", "--bare", "--template=", "--initial-branch=main"], { directory: unfinished });
  await rename(unfinished, directory);
}

const shaPattern = /^[0-9a-f]{7,40}$/;
/** The essence of git-check-ref-format. No leading dash, so that it can't be parsed as an option. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it rejects control characters
const refNamePattern = /^(?![-/.])(?!.*(?:\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)))[^\x00-\x20\x7f~^:?*[\\]{1,200}(?<![/.])$/;

function isRefName(name: string): boolean {
  return refNamePattern.test(name) && name !== "@";
}

/** Full refs → shas, for branches and tags. */
export async function listRefs(directory: string): Promise<Map<string, string>> {
  const format = "--format=%(objectname) %(refname)";
  const text = await gitText(["for-each-ref", format, "refs/heads", "refs/tags"], { directory });
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}

/** Branch names → shas, by name. */
export async function listBranches(directory: string): Promise<Map<string, string>> {
  const prefix = "refs/heads/";
  const refs = [...(await listRefs(directory))].filter(([name]) => name.startsWith(prefix));
  return new Map(refs.map(([name, sha]) => [name.slice(prefix.length), sha]));
}

async function verify(directory: string, revision: string): Promise<string | null> {
  try {
    const text = await gitText(["rev-parse", "--verify", "--quiet", `${revision}^{commit}`], { directory });
    return text.trim();
  } catch (error) {
    if (error instanceof GitError) return null;
    throw error;
  }
}

/** The commit of a branch, tag, `heads/…`, `tags/…` or (short) sha; null if there is none. */
export async function resolveCommit(directory: string, ref: string): Promise<string | null> {
  if (!isRefName(ref)) return null;
  const candidates = [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`, ...(shaPattern.test(ref) ? [ref] : [])];
  for (const candidate of candidates) {
    const sha = await verify(directory, candidate);
    if (sha !== null) return sha;
  }
  return null;
}

export function branchCommit(directory: string, branch: string): Promise<string | null> {
  return isRefName(branch) ? verify(directory, `refs/heads/${branch}`) : Promise.resolve(null);
}

export async function isAncestor(directory: string, older: string, newer: string): Promise<boolean> {
  try {
    await runGit(["merge-base", "--is-ancestor", older, newer], { directory });
    return true;
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}

/**
 * Copies objects between repositories of the forge, and sets refs to them: `refspec` is `{full sha or refs}:{refs}`, never
 * external input.
 */
export async function copyRefs(from: string, to: string, ...refspecs: readonly string[]): Promise<void> {
  const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--force"];
  await runGit(["fetch", ...options, from, ...refspecs], { directory: to });
}

export async function setHead(directory: string, branch: string): Promise<void> {
  await runGit(["symbolic-ref", "HEAD", `refs/heads/${branch}`], { directory });
}
