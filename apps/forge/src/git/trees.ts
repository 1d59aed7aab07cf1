import { GitError, gitText, runGit } from "./run-git.ts";

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

/** Everything below a commit or tree, folders included, with paths from its root. */
export function listTree(directory: string, sha: string): Promise<TreeEntry[]> {
  return lsTree(directory, ["-r", "-t", sha]);
}

/** A path from a URL as git knows it; null for what cannot be in a tree. */
export function treePath(path: string): string | null {
  const parts = path.split("/").filter((part) => part !== "");
  const isUnusable = parts.some((part) => part === "." || part === ".." || part.includes("\0"));
  return isUnusable ? null : parts.join("/");
}

/** The folder's entries (paths from the root), or the one entry when the path is a file; null when there is nothing. */
export async function listPath(
  directory: string,
  commit: string,
  path: string,
): Promise<{ entry: TreeEntry | null; entries: TreeEntry[] } | null> {
  if (path === "") return { entry: null, entries: await lsTree(directory, [commit]) };
  const [entry] = await lsTree(directory, [commit, "--", path]);
  if (entry === undefined) return null;
  if (entry.type !== "tree") return { entry, entries: [] };
  const children = await lsTree(directory, [entry.sha]);
  return { entry, entries: children.map((child) => ({ ...child, path: `${path}/${child.path}` })) };
}

export function readBlob(directory: string, sha: string): Promise<Buffer> {
  return runGit(["cat-file", "blob", sha], { directory });
}

/** Whether the object is there with that type. */
export async function objectExists(directory: string, sha: string, type: "blob" | "tree" | "commit"): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(sha)) return false;
  try {
    return (await gitText(["cat-file", "-t", sha], { directory })).trim() === type;
  } catch (error) {
    if (error instanceof GitError) return false;
    throw error;
  }
}
