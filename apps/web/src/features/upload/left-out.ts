/** A file of a folder, by its path in it: `src/server.py`. */
export type FolderFile = { readonly path: string; readonly file: File };

/** What no server is built from: history, environments, caches, and files of operating systems. */
const directories = new Set([
  ...[".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"],
  ...[".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".idea"],
]);
const files = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);
/** Secrets: whoever may read the repository would read them. */
const secretFiles = new Set([".env", ".env.local"]);

/** Why a path isn't uploaded: the name of the directory or file that is left out; null for one that is. */
export function leftOut(path: string): string | null {
  const names = path.split("/");
  const last = names.at(-1) ?? "";
  const directory = names.slice(0, -1).find((name) => directories.has(name));
  if (directory !== undefined) return `${directory}/`;
  return files.has(last) || secretFiles.has(last) ? last : null;
}

/** Whether a directory of this name is left out with all that is in it. */
export const isLeftOut = (name: string): boolean => directories.has(name);

/** Of the names that were left out: files whose variables belong into the form. */
export const secretNames = (names: readonly string[]): readonly string[] =>
  names.filter((name) => secretFiles.has(name));
