import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { GitError, gitText, runGit } from "./run-git.ts";

/** `sha` null deletes the path, which makes sense on top of a base only. */
export type TreeChange = { readonly path: string; readonly mode: string; readonly sha: string | null };

export async function writeBlob(directory: string, content: string | Uint8Array): Promise<string> {
  return (await gitText(["hash-object", "-w", "--stdin"], { directory, input: content })).trim();
}

/** Writes a tree through an index of its own, as git itself does. Paths must have passed `treePath`. */
export async function writeTree(
  directory: string,
  base: string | null,
  changes: readonly TreeChange[],
): Promise<string> {
  const index = join(directory, `index-${randomUUID()}`);
  const options = { directory, env: { GIT_INDEX_FILE: index } };
  try {
    if (base !== null) await runGit(["read-tree", base], options);
    const gone = "0".repeat(40);
    const lines = changes.map(({ path, mode, sha }) => (sha ? `${mode} ${sha}\t${path}\0` : `0 ${gone}\t${path}\0`));
    await runGit(["update-index", "-z", "--add", "--replace", "--index-info"], { ...options, input: lines.join("") });
    return (await gitText(["write-tree"], options)).trim();
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

export type CommitInput = {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
};

export async function writeCommit(directory: string, input: CommitInput): Promise<string> {
  const parents = input.parents.flatMap((parent) => ["-p", parent]);
  const env = {
    GIT_AUTHOR_NAME: input.author.name,
    GIT_AUTHOR_EMAIL: input.author.email,
    GIT_COMMITTER_NAME: input.author.name,
    GIT_COMMITTER_EMAIL: input.author.email,
  };
  const args = ["commit-tree", input.tree, ...parents, "-F", "-"];
  return (await gitText(args, { directory, env, input: `${input.message.trimEnd()}\n` })).trim();
}

/** Moves a ref if it is still at `expected` (null: must not exist). False: somebody else was faster. */
export async function updateRef(
  directory: string,
  ref: string,
  sha: string,
  expected: string | null,
): Promise<boolean> {
  try {
    await runGit(["update-ref", ref, sha, expected ?? "0".repeat(40)], { directory });
    return true;
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}
