import { leadsOut } from "@towpath/core/sources/repository/left-out/schema";
import { unusable } from "./archive-entry.ts";

/** The longest that Linux opens. */
const maxPathBytes = 4096;
const maxPartBytes = 255;
/** Code points that some file systems ignore in names (git's `next_hfs_char`). */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;
/** Files that git itself reads from a work tree: as links, they could lead out of it. */
const notLinks = new Set([".gitmodules", ".gitattributes", ".gitignore", ".mailmap"]);

const shown = (name: string) => JSON.stringify(name.slice(0, 200));
const refused = (name: string, reason: string) =>
  unusable(`The archive contains ${shown(name)}, which is refused: ${reason}. Leave it out, then try again.`);

/** Directories that archives often have and no repository can. */
const isLeftOut = (part: string) => isGitDirectory(part) || part === "__MACOSX" || part === ".DS_Store";

/** As some file system may read it (git's `is_hfs_dotgit` and `is_ntfs_dotgit`). */
const isGitDirectory = (part: string) => {
  const plain = part.replace(ignorable, "").toLowerCase();
  return plain === ".git" || plain === "git~1";
};
const looksLikeGit = (part: string) => /^(?:\.git|git~1)(?:[ .:\\]|$)/.test(part.replace(ignorable, "").toLowerCase());

/** Why no file of a repository may have this path, as the end of a sentence; null: it may. */
export function pathProblem(name: string): string | null {
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name)) return "it is an absolute path";
  if (/\p{Cc}/u.test(name) || name.includes("\ufffd")) return "it has characters that no name may have";
  if (name.includes("\\")) return "it has a backslash";
  const parts = name.split("/");
  if (parts.includes("..")) return "it leads out of the repository";
  if (parts.some(looksLikeGit)) return "git keeps this name for itself";
  const isLong = parts.some((part) => Buffer.byteLength(part) > maxPartBytes);
  return isLong || Buffer.byteLength(name) > maxPathBytes ? "it is too long" : null;
}

/**
 * The parts of an entry's path; null for entries that are left out: the root, and git's own files in a work tree.
 *
 * @throws TowpathError `invalid_input` for a path that leads out of the archive or that no file can have
 */
export function entryPath(name: string): readonly string[] | null {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  const kept = parts.length > 0 && !parts.some(isLeftOut);
  const problem = pathProblem(
    kept
      ? name
      : name
          .split("/")
          .filter((part) => !isLeftOut(part))
          .join("/"),
  );
  if (problem !== null) throw refused(name, problem);
  return kept ? parts : null;
}

/**
 * Checks the target of a symbolic link.
 *
 * @throws TowpathError `invalid_input` for one that leads out of the archive
 */
export function checkLink(parts: readonly string[], target: string): void {
  const name = parts.join("/");
  if (notLinks.has(parts.at(-1)?.toLowerCase() ?? "")) throw refused(name, "git doesn't read it through a link");
  if (leadsOut(name, target)) throw refused(name, `it is a link to ${shown(target)}, outside the archive`);
}

/**
 * Strips the top-level directory that archives of repositories have.
 *
 * @throws TowpathError `invalid_input` for a path that is a file and a directory
 */
export function withoutCommonDirectory<Entry>(entries: ReadonlyMap<string, Entry>): ReadonlyMap<string, Entry> {
  const paths = [...entries.keys()];
  const [first = ""] = paths[0]?.split("/") ?? [];
  const isCommon = paths.every((path) => path.startsWith(`${first}/`));
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const parent = path.slice(0, end);
      if (entries.has(parent)) throw refused(parent, "it is a file and a directory");
    }
  }
  if (!isCommon) return entries;
  return new Map([...entries].map(([path, entry]) => [path.slice(first.length + 1), entry]));
}
