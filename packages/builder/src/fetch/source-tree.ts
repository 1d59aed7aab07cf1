import { createHash } from "node:crypto";

/** One entry of the source, with its path relative to the tree's root, `/` between the parts. */
export type SourceEntry =
  | { readonly path: string; readonly kind: "file"; readonly executable: boolean; readonly sha256: string }
  | { readonly path: string; readonly kind: "link"; readonly target: string };

export type SourceTree = {
  /** Absolute path of the directory that holds the files. */
  readonly directory: string;
  /** The same, relative to where the whole source was extracted; empty for all of it. */
  readonly subPath: string;
  readonly entries: readonly SourceEntry[];
  /** SHA-256 over all entries: same files, same digest. Times and owners don't count. */
  readonly digest: string;
};

/** The digest of entries in any order. JSON per line, so that no name can imitate another entry. */
export function digestOf(entries: readonly SourceEntry[]): string {
  const hash = createHash("sha256");
  const lines = entries.map((entry) =>
    entry.kind === "file"
      ? JSON.stringify([entry.path, "file", entry.executable, entry.sha256])
      : JSON.stringify([entry.path, "link", entry.target]),
  );
  for (const line of lines.sort()) hash.update(`${line}\n`);
  return hash.digest("hex");
}

/** The part of a tree below one of its folders, as a tree of its own. Null when nothing is there. */
export function subtree(tree: SourceTree, directory: string): SourceTree | null {
  const prefix = `${directory.replace(/\/$/, "")}/`;
  const entries = tree.entries
    .filter((entry) => entry.path.startsWith(prefix))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
  if (entries.length === 0) return null;
  const own = prefix.slice(0, -1);
  const subPath = tree.subPath === "" ? own : `${tree.subPath}/${own}`;
  return { directory: `${tree.directory}/${own}`, subPath, entries, digest: digestOf(entries) };
}
