import { createHash } from "node:crypto";
import { climbsOut } from "@towpath/core/sources/repository/left-out/schema";

/** A file or link of the source; its path is relative to the tree's root, with `/` as separator. */
export type SourceEntry =
  | {
      readonly path: string;
      readonly kind: "file";
      readonly executable: boolean;
      readonly bytes: number;
      readonly sha256: string;
    }
  | { readonly path: string; readonly kind: "link"; readonly target: string };

export type SourceTree = {
  /** Where the files are, relative to the root of the source; empty for the root itself. */
  readonly subPath: string;
  readonly entries: readonly SourceEntry[];
  /** SHA-256 of all entries: same files, same digest. Ignores times and owners. */
  readonly digest: string;
  /** The date of its newest file: for a commit's archive, the commit's time. Null if unknown. */
  readonly madeAt: Date | null;
  /** The whole source that contains this part. */
  readonly whole?: SourceTree;
};

/** Independent of the order of the entries. One line of JSON each, so that no name can imitate another entry. */
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

/** The part of a tree below `directory`, as its own tree. Null if it is empty. */
export function subtree(tree: SourceTree, directory: string): SourceTree | null {
  const prefix = `${directory.replace(/\/$/, "")}/`;
  const entries = tree.entries
    .filter((entry) => entry.path.startsWith(prefix))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
  if (entries.length === 0) return null;
  const own = prefix.slice(0, -1);
  const subPath = tree.subPath === "" ? own : `${tree.subPath}/${own}`;
  const { madeAt, whole = tree } = tree;
  return { subPath, entries, digest: digestOf(entries), madeAt, whole };
}

/** Bytes of a path and of each name in it, as Linux file systems limit them. */
const maxPathBytes = 1_024;
const maxNameBytes = 255;
const maxDepth = 64;

/** No path in a source tree needs these characters, and terminals and logs misread them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the purpose
const controlCharacter = /[\u0000-\u001f\u007f]/;

export type EntryPath =
  | { readonly kind: "path"; readonly parts: readonly string[] }
  /** The top-level directory itself. */
  | { readonly kind: "root" }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Parses the name of a tar entry, without the archive's top-level directory. No accepted path leads out of the tree:
 * none has an empty, `.` or `..` part.
 */
export function parseEntryPath(name: string): EntryPath {
  if (controlCharacter.test(name)) return { kind: "refused", reason: "its name contains a control character" };
  if (name.startsWith("/")) return { kind: "refused", reason: "its path is absolute" };
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return { kind: "refused", reason: 'its path contains ".."' };
  const inside = parts.slice(1);
  if (inside.length === 0) return { kind: "root" };
  if (inside.length > maxDepth) return { kind: "refused", reason: `it is nested deeper than ${maxDepth} directories` };
  if (Buffer.byteLength(inside.join("/")) > maxPathBytes) {
    return { kind: "refused", reason: `its path is longer than ${maxPathBytes} bytes` };
  }
  if (inside.some((part) => Buffer.byteLength(part) > maxNameBytes)) {
    return { kind: "refused", reason: `a name in its path is longer than ${maxNameBytes} bytes` };
  }
  return { kind: "path", parts: inside };
}

/** Whether a link at `parts` with this target stays inside the tree; the target need not exist. */
export function linkStaysInside(parts: readonly string[], target: string): boolean {
  if (target === "" || target.startsWith("/") || controlCharacter.test(target)) return false;
  return !climbsOut(parts.join("/"), target);
}
