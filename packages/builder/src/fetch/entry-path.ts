import { posix } from "node:path";

/** Bytes of a whole path and of one name in it: what Linux file systems take. */
const maxPathBytes = 1_024;
const maxNameBytes = 255;
const deepest = 64;

/** Characters that no path in a source tree needs and that terminals and logs misread. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing them is the purpose
const control = /[\u0000-\u001f\u007f]/;

export type EntryPath =
  | { readonly kind: "path"; readonly parts: readonly string[] }
  /** The tree's own root, or something above it that is left out. */
  | { readonly kind: "root" }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Takes the name of a tar entry apart and drops the folder at its top. Nothing that it accepts can lead out of the
 * tree, whatever is on disk: there is no empty, `.` or `..` part, and no part contains a slash.
 */
export function parseEntryPath(name: string): EntryPath {
  if (control.test(name)) return { kind: "refused", reason: "its name contains a control character" };
  if (name.startsWith("/")) return { kind: "refused", reason: "its path is absolute" };
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return { kind: "refused", reason: 'its path contains ".."' };
  const inside = parts.slice(1);
  if (inside.length === 0) return { kind: "root" };
  if (inside.length > deepest) return { kind: "refused", reason: `it lies deeper than ${deepest} folders` };
  if (Buffer.byteLength(inside.join("/")) > maxPathBytes) {
    return { kind: "refused", reason: `its path is longer than ${maxPathBytes} bytes` };
  }
  if (inside.some((part) => Buffer.byteLength(part) > maxNameBytes)) {
    return { kind: "refused", reason: `a name in its path is longer than ${maxNameBytes} bytes` };
  }
  return { kind: "path", parts: inside };
}

/** Whether a link at `parts` with this target stays inside the tree. Says nothing about whether its target exists. */
export function linkStaysInside(parts: readonly string[], target: string): boolean {
  if (target === "" || target.startsWith("/") || control.test(target)) return false;
  const resolved = posix.normalize(posix.join("/root", ...parts.slice(0, -1), target));
  return resolved === "/root" || resolved.startsWith("/root/");
}
