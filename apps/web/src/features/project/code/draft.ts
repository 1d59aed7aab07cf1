import type { CommitChangesInput } from "@towpath/core/sources/files/schema";

/** A file that a person changes. Null: there is none. */
export type FileDraft = {
  /** Its text in the commit that the change is made on. */
  readonly base: string | null;
  readonly text: string | null;
  /** Its text in a newer commit, where that is neither: a conflict. */
  readonly theirs?: string | null;
};

/** What a person changes in a branch, without a commit. */
export type Draft = {
  /** The commit that it is made on. */
  readonly sha: string;
  /** The newest commit that it was compared with. Another one than `sha`: there are conflicts. */
  readonly head: string;
  readonly files: Readonly<Record<string, FileDraft>>;
};

export const emptyDraft = (sha: string): Draft => ({ sha, head: sha, files: {} });

export const isEmpty = ({ files }: Draft): boolean => Object.keys(files).length === 0;

/** What changes in a file; undefined: nothing. A file may be named like a property of every object. */
export const fileOf = ({ files }: Draft, path: string): FileDraft | undefined =>
  Object.hasOwn(files, path) ? files[path] : undefined;

const isConflict = (file: FileDraft | undefined): boolean => file?.theirs !== undefined;

export const conflictsOf = ({ files }: Draft): readonly string[] =>
  Object.keys(files).filter((path) => isConflict(files[path]));

function withFile(draft: Draft, path: string, file: FileDraft | null): Draft {
  const { [path]: _before, ...others } = draft.files;
  const isSame = file !== null && file.text === file.base && !isConflict(file);
  return settled({ ...draft, files: file === null || isSame ? others : { ...others, [path]: file } });
}

/** Without conflicts, it is made on the newest commit. */
const settled = (draft: Draft): Draft => (conflictsOf(draft).length === 0 ? { ...draft, sha: draft.head } : draft);

/** Gives a file another text; null deletes it. `base`: of a file without changes. */
export function withText(draft: Draft, path: string, text: string | null, base: string | null): Draft {
  return withFile(draft, path, { ...(fileOf(draft, path) ?? { base }), text });
}

/** `base`: the text of the file at `from`, if it has no changes. */
export function renamed(draft: Draft, from: string, to: string, base: string | null): Draft {
  const text = fileOf(draft, from)?.text ?? base;
  return withText(withText(draft, from, null, base), to, text, null);
}

/** Drops the change of a file. */
export const withoutChange = (draft: Draft, path: string): Draft => withFile(draft, path, null);

/** Keeps a person's text for a file in conflict, on top of the newest one. */
export function resolvedWithOwn(draft: Draft, path: string): Draft {
  const { theirs = null, text = null } = fileOf(draft, path) ?? {};
  return withFile(draft, path, { base: theirs, text });
}

/** Without what of it was committed as `made`; what was typed since then stays, on top of that. */
export function withoutCommitted(draft: Draft, made: Draft): Draft {
  const files = Object.entries(draft.files).flatMap(([path, file]) => {
    const was = fileOf(made, path);
    if (was === undefined) return [[path, file] as const];
    return file.text === was.text ? [] : [[path, { base: was.text, text: file.text }] as const];
  });
  return settled({ ...draft, files: Object.fromEntries(files) });
}

/** Compares it with a newer commit, whose texts of its files are `newest`. */
export function rebased(draft: Draft, head: string, newest: Readonly<Record<string, string | null>>): Draft {
  const files = Object.entries(draft.files).flatMap(([path, { base, text }]) => {
    const theirs = newest[path] ?? null;
    if (theirs === text) return [];
    return [[path, theirs === base ? { base, text } : { base, text, theirs }] as const];
  });
  return settled({ ...draft, head, files: Object.fromEntries(files) });
}

export type Mark = "new" | "changed" | "deleted" | "conflict";

export function markOf(file: FileDraft | undefined): Mark | null {
  if (!file) return null;
  if (isConflict(file)) return "conflict";
  if (file.text === null) return "deleted";
  return file.base === null ? "new" : "changed";
}

/** Paths of the files as they are with the changes, and of deleted ones; in order. */
export function shownPaths(paths: readonly string[], { files }: Draft): readonly string[] {
  const own = Object.keys(files);
  return own.length === 0 ? paths : [...new Set([...paths, ...own])].toSorted();
}

export const changesOf = ({ files }: Draft): CommitChangesInput["changes"] =>
  Object.entries(files)
    .map(([path, { text }]) => ({ path, content: text }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));

const nameOf = (path: string) => path.split("/").at(-1) ?? path;

/** The first line of a commit message that says what is changed. */
export function defaultMessage({ files }: Draft): string {
  const paths = Object.keys(files);
  const [first, second] = paths;
  if (first === undefined) return "";
  if (second !== undefined && paths.length === 2) {
    const [deleted, added] = files[first]?.text === null ? [first, second] : [second, first];
    const [from, to] = [files[deleted], files[added]];
    if (from?.text === null && to?.base === null && from.base === to.text)
      return `Rename ${nameOf(deleted)} to ${nameOf(added)}`;
    return `Update ${nameOf(first)} and ${nameOf(second)}`;
  }
  if (paths.length > 1) return `Update ${paths.length} files`;
  const verbs = { new: "Add", deleted: "Delete", changed: "Update", conflict: "Update" } as const;
  return `${verbs[markOf(files[first]) ?? "changed"]} ${nameOf(first)}`;
}

/** Why no file can have a path; null: it can. `paths`: of the files there are. */
export function pathProblem(path: string, paths: readonly string[]): string | null {
  if (path === "") return "Enter a path, such as tools/weather.py";
  if (path.startsWith("/") || path.endsWith("/"))
    return "Enter a path from the top of the repository, without a / at its ends";
  if (path.split("/").some((part) => part === "" || part === "." || part === ".." || /^\.git$/i.test(part)))
    return "No part of the path can be empty, .., . or .git";
  if (paths.includes(path)) return `There is a file ${path} already`;
  if (paths.some((other) => other.startsWith(`${path}/`))) return `${path} is a directory`;
  const inFile = paths.find((other) => path.startsWith(`${other}/`));
  return inFile === undefined ? null : `${inFile} is a file, not a directory`;
}

/** A stored draft; null for what isn't one. */
export function parseDraft(stored: string | null): Draft | null {
  if (stored === null) return null;
  try {
    const found = JSON.parse(stored) as Partial<Draft> | null;
    const isDraft =
      typeof found?.sha === "string" &&
      typeof found.head === "string" &&
      typeof found.files === "object" &&
      found.files;
    return isDraft ? (found as Draft) : null;
  } catch {
    return null;
  }
}
