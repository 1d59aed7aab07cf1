import { z } from "zod";
import { matchesWildcards } from "../../sources/repository/gitignore.schema.ts";
import { pathProblem } from "./entrypoint.schema.ts";

// BLD-15: which part of a repository a server is made of. Browser and server validate alike.

const maxPathLength = 128;
const maxPatterns = 50;

/** `./servers/one/` → `servers/one`; empty for the repository's root. */
const tidied = (path: string) =>
  path
    .trim()
    .replace(/^(?:\.\/)+/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/^\.$/, "");

/** The first problem of a root directory; null when there is none or it is empty. */
export function rootDirectoryProblem(value: string): string | null {
  // Without its end, which is no file's.
  const path = value.trim() === "/" ? "/" : tidied(value);
  if (path === "") return null;
  if (path.length > maxPathLength) return "Root directory is too long (max 128 characters)";
  return pathProblem(path, {
    absolute: "Root directory must be a relative path from the repo root",
    parent: "Root directory cannot reference parent directories",
    characters: "Root directory contains invalid characters",
    directory: "Root directory contains invalid characters",
  });
}

/** Absent, null, empty and `.` all mean the repository's root: null. */
export const rootDirectorySchema = z
  .string({ error: "Root directory contains invalid characters" })
  .superRefine((value, context) => {
    const problem = rootDirectoryProblem(value);
    if (problem) context.addIssue({ code: "custom", message: problem });
  })
  .nullish()
  .transform((value) => (value == null ? null : tidied(value) || null));

/** The first problem of a list of patterns; null when there is none. */
export function watchPathsProblem(patterns: readonly string[]): string | null {
  if (patterns.length > maxPatterns) return `At most ${maxPatterns} watch paths`;
  for (const pattern of patterns) {
    if (pattern.length > maxPathLength) return `${pattern.slice(0, 20)}… is too long (max 128 characters)`;
    const path = tidied(pattern.replace(/^!/, ""));
    const problem =
      path === ""
        ? "names no path"
        : // Wildcards are the only characters that a path doesn't have.
          pathProblem(path.replaceAll(/[*?]/g, "x"), {
            absolute: "must be a relative path from the repo root",
            parent: "cannot reference parent directories",
            characters: "contains invalid characters",
            directory: "contains invalid characters",
          });
    if (problem) return `${pattern} ${problem}`;
  }
  return null;
}

/** Patterns as `isWatched` reads them, without empty ones. None: every push builds. */
export const watchPathsSchema = z
  .array(z.string(), { error: "Watch paths must be a list of paths" })
  .transform((patterns) => patterns.map((pattern) => pattern.trim()).filter((pattern) => pattern !== ""))
  .superRefine((patterns, context) => {
    const problem = watchPathsProblem(patterns);
    if (problem) context.addIssue({ code: "custom", message: problem });
  });

/**
 * Whether patterns watch a path of the repository. A pattern matches a file, or everything below a directory. `*` and `?`
 * stand for characters of one name, `**` for any directories; `!` excludes. With exclusions only, all other paths are
 * watched.
 */
export function isWatched(patterns: readonly string[], path: string): boolean {
  const names = path.split("/");
  const matches = (pattern: string) => matchesBelow(pattern, names);
  const excluded = patterns.filter((pattern) => pattern.startsWith("!"));
  if (excluded.some((pattern) => matches(pattern.slice(1)))) return false;
  const included = patterns.filter((pattern) => !pattern.startsWith("!"));
  return included.length === 0 || included.some(matches);
}

/** Whether a pattern matches these names or a directory above them. */
const matchesBelow = (pattern: string, names: readonly string[]) =>
  matchesWildcards([...tidied(pattern).split("/"), "**"], names, (part) => part === "**", matchesName);

const matchesName = (pattern: string, name: string) =>
  matchesWildcards(
    pattern,
    name,
    (char) => char === "*",
    (char, other) => char === "?" || char === other,
  );
