import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { GitError, gitText, runGit } from "./run-git.ts";

type Signature = { name: string; email: string; date: string };
export type Commit = {
  sha: string;
  tree: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  message: string;
};

const format = "--format=%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%aI%x1f%cn%x1f%ce%x1f%cI%x1f%B";

function parseCommit(record: string): Commit {
  const [sha = "", tree = "", parents = "", ...rest] = record.split("\x1f");
  const [authorName = "", authorEmail = "", authorDate = "", name = "", email = "", date = "", ...message] = rest;
  return {
    sha,
    tree,
    parents: parents.split(" ").filter((parent) => parent !== ""),
    author: { name: authorName, email: authorEmail, date: authorDate },
    committer: { name, email, date },
    message: message.join("\x1f").trimEnd(),
  };
}

/** Newest first. `revision` is a sha or `old..new` of shas, never external input. */
export async function listCommits(directory: string, revision: string, limit: number): Promise<Commit[]> {
  const text = await gitText(["log", "-z", format, `--max-count=${limit}`, revision, "--"], { directory });
  return text
    .split("\0")
    .filter((record) => record !== "")
    .map(parseCommit);
}

/** Throws if the sha isn't a commit. */
export async function readCommit(directory: string, sha: string): Promise<Commit> {
  const [commit] = await listCommits(directory, sha, 1);
  if (commit === undefined) throw new Error(`no commit ${sha}`);
  return commit;
}

export type TreeEntry = {
  readonly mode: string;
  readonly type: "blob" | "tree" | "commit";
  readonly sha: string;
  /** Bytes of a blob, else null. */
  readonly size: number | null;
  readonly path: string;
};

function parseEntry(record: string): TreeEntry {
  const tab = record.indexOf("\t");
  const [mode = "", type = "", sha = "", size = ""] = record.slice(0, tab).split(/ +/);
  const path = record.slice(tab + 1);
  const kind = type === "tree" || type === "commit" ? type : "blob";
  return { mode, type: kind, sha, size: kind === "blob" ? Number(size) : null, path };
}

async function lsTree(directory: string, args: readonly string[]): Promise<TreeEntry[]> {
  const text = await gitText(["ls-tree", "-z", "-l", ...args], { directory });
  return text
    .split("\0")
    .filter((record) => record !== "")
    .map(parseEntry);
}

/** Everything below a commit or tree, directories included, with paths from its root. */
export function listTree(directory: string, sha: string): Promise<TreeEntry[]> {
  return lsTree(directory, ["-r", "-t", sha]);
}

/** Converts a path from a URL to git's form; null for a path that can't be in a tree. */
export function treePath(path: string): string | null {
  const parts = path.split("/").filter((part) => part !== "");
  const isUnusable = parts.some((part) => part === "." || part === ".." || part.includes("\0"));
  return isUnusable ? null : parts.join("/");
}

/** A file's entry, or a directory's entries with paths from the root; null if neither exists. */
export async function listPath(
  directory: string,
  commit: string,
  path: string,
): Promise<TreeEntry | TreeEntry[] | null> {
  if (path === "") return lsTree(directory, [commit]);
  const [entry] = await lsTree(directory, [commit, "--", path]);
  if (entry === undefined) return null;
  return entry.type === "tree" ? lsTree(directory, [commit, "--", `${path}/`]) : entry;
}

export function readBlob(directory: string, sha: string): Promise<Buffer> {
  return runGit(["cat-file", "blob", sha], { directory });
}

/** Whether an object of that type exists. */
export async function objectExists(directory: string, sha: string, type: "blob" | "tree" | "commit"): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(sha)) return false;
  try {
    return (await gitText(["cat-file", "-t", sha], { directory })).trim() === type;
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}

export type TreeFile = { readonly path: string; readonly mode: string; readonly sha: string };

export async function writeBlob(directory: string, content: string | Uint8Array): Promise<string> {
  return (await gitText(["hash-object", "-w", "--stdin"], { directory, input: content })).trim();
}

/** Writes a tree of these files through a temporary index. Paths must have passed `treePath`. */
export async function writeTree(directory: string, files: readonly TreeFile[]): Promise<string> {
  const index = join(directory, `index-${randomUUID()}`);
  const options = { directory, env: { GIT_INDEX_FILE: index } };
  try {
    const lines = files.map(({ path, mode, sha }) => `${mode} ${sha}\t${path}\0`);
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

/** Moves a ref by compare-and-swap (`expected` null: it must not exist). False if it had another value. */
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
