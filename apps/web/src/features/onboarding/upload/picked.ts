import { TowpathError } from "@towpath/core/errors";
import {
  gitignoreRule,
  isGitignore,
  isLeftOutDirectory,
  leftOutName,
  maxGitignoreBytes,
} from "@towpath/core/sources/repository/left-out/schema";
import { formatCount } from "~/ui/figure.tsx";
import { formatBytes } from "~/ui/time.tsx";
import { maxUploadBytes, maxUploadFiles } from "./upload-limits.ts";

/** A file of a folder, by its path in it: `src/server.py`. */
export type FolderFile = { readonly path: string; readonly file: File };

/** A picked folder or archive. `name`: of the folder, or of the archive without its extension. */
export type Picked =
  | {
      readonly kind: "folder";
      readonly name: string;
      readonly files: readonly FolderFile[];
      readonly bytes: number;
      /** Names of directories and files that aren't uploaded. */
      readonly leftOut: readonly string[];
    }
  | { readonly kind: "archive"; readonly name: string; readonly file: File; readonly bytes: number };

/** Why the picked files can't be uploaded. */
export type NotPicked = { readonly problem: string };

/** Why it is too much to upload; null for none. */
export function sizeProblem(picked: Picked): string | null {
  const { bytes } = picked;
  if (picked.kind === "folder" && picked.files.length > maxUploadFiles)
    return `It has ${formatCount(picked.files.length)} files, and an upload at most ${formatCount(maxUploadFiles)}. Choose only the server's own folder.`;
  if (bytes > maxUploadBytes)
    return `It has ${formatBytes(bytes)}, and an upload at most ${formatBytes(maxUploadBytes)}. Choose only the server's own folder.`;
  return null;
}

const archive = /\.(?:zip|tar|tgz|tar\.gz)$/i;
export const archiveEndings = ".zip,.tar,.tgz,.gz";

export const isArchive = (file: { readonly name: string }): boolean => archive.test(file.name);

/** Of the button that opens the browser's choice of folders. */
export function pickedFolder(list: readonly File[]): Promise<Picked | NotPicked> {
  const [first] = list;
  const name = first?.webkitRelativePath.split("/", 1)[0] ?? "";
  return folder(
    name,
    list.map((file) => ({ path: file.webkitRelativePath.slice(name.length + 1), file })),
    new Set(),
  );
}

export function pickedArchive(file: File): Picked | NotPicked {
  if (!isArchive(file))
    return { problem: `${file.name} is no archive. Choose a .zip, .tar or .tar.gz file, or a folder.` };
  return { kind: "archive", name: file.name.replace(archive, ""), file, bytes: file.size };
}

/** Reads a drop of one folder, one archive, or several files. Entries are read before the first `await`. */
export async function pickedByDrop(items: Iterable<DataTransferItem>): Promise<Picked | NotPicked> {
  const dropped = [...items].filter(({ kind }) => kind === "file");
  const entries = dropped.flatMap((item) => item.webkitGetAsEntry() ?? []);
  const [first, ...others] = entries;
  if (!first) {
    // Not from the file system: dropped from another page, for example.
    const file = dropped[0]?.getAsFile();
    return file ? pickedArchive(file) : { problem: "Drop a folder or an archive." };
  }
  const isAlone = others.length === 0;
  if (isAlone && first.isFile) {
    const file = await fileOf(first as FileSystemFileEntry);
    if (isArchive(file)) return pickedArchive(file);
  }
  const skipped = new Set<string>();
  const files: FolderFile[] = [];
  // Paths are relative to the folder.
  const roots = isAlone && first.isDirectory ? await childrenOf(first as FileSystemDirectoryEntry) : entries;
  for (const entry of roots) await walk(entry, "", files, skipped);
  return folder(isAlone ? first.name.replace(/\.py$/, "") : "", files, skipped);
}

async function folder(name: string, all: readonly FolderFile[], skipped: Set<string>): Promise<Picked | NotPicked> {
  const kept = all.filter(({ path }) => {
    const why = leftOutName(path);
    if (why !== null) skipped.add(why);
    return why === null;
  });
  const ignoring = kept.filter(({ path, file }) => isGitignore(path) && file.size <= maxGitignoreBytes);
  const texts = await Promise.all(ignoring.map(async ({ path, file }) => [path, await file.text()] as const));
  const ignored = gitignoreRule(new Map(texts));
  let files: readonly FolderFile[];
  try {
    files = kept.filter(({ path }) => {
      const why = ignored(path);
      if (why !== null) skipped.add(why);
      return why === null;
    });
  } catch (error) {
    if (error instanceof TowpathError) return { problem: error.message };
    throw error;
  }
  if (files.length === 0) return { problem: "There are no files in it to build a server from." };
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  return { kind: "folder", name, files, bytes, leftOut: [...skipped].sort() };
}

async function walk(entry: FileSystemEntry, prefix: string, into: FolderFile[], skipped: Set<string>): Promise<void> {
  const path = prefix + entry.name;
  if (entry.isFile) {
    into.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
  } else if (isLeftOutDirectory(entry.name)) {
    // Not read: these are large.
    skipped.add(`${entry.name}/`);
  } else {
    for (const child of await childrenOf(entry as FileSystemDirectoryEntry))
      await walk(child, `${path}/`, into, skipped);
  }
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

/** Browsers return at most a hundred at a time, and none at the end. */
async function childrenOf(entry: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = entry.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}
