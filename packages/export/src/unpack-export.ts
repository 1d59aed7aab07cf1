import { createWriteStream } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ExportDocument } from "@towpath/core/delivery/export/schema";
import { extract as untar } from "tar-stream";
import { readChecked } from "./check-export.ts";
import { insideParts, requireInsideLink } from "./inside-path.ts";
import type { Yielded } from "./layer-entries.ts";
import { notWhole, orRefusal, Refusal, shown, type Usable } from "./refusal.ts";

type UnpackLimits = { readonly bytes: number; readonly entries: number };

/** More than a build's source and its history may have together. */
const defaultUnpackLimits: UnpackLimits = { bytes: 3 * 1024 ** 3, entries: 200_000 };

/**
 * Unpacks an export's tar into an empty directory, without its top-level directory, and checks it. Nothing is written
 * outside of `directory`, for any content of the tar; the caller removes it after a refusal.
 */
export const unpackExport = (
  tar: Readable,
  directory: string,
  limits = defaultUnpackLimits,
): Promise<Usable<ExportDocument>> =>
  orRefusal(async () => {
    await unpack(tar, directory, limits);
    return readChecked(directory);
  });

async function unpack(tar: Readable, directory: string, limits: UnpackLimits): Promise<void> {
  const archive = untar();
  const fed = pipeline(tar, archive);
  let failure: unknown = null;
  fed.catch((error: unknown) => {
    failure = error;
  });
  const unpacking = new Unpacking(directory, limits);
  try {
    for await (const entry of archive as AsyncIterable<Yielded>) await unpacking.take(entry);
    await fed;
    await unpacking.writeLinks();
  } catch (error) {
    if (error instanceof Refusal || isDiskError(error)) throw error;
    // Of the connection or file that it is read from, if that failed first.
    if (failure !== null && failure !== error && isDiskError(failure)) throw failure;
    throw notWhole("it ends too early, or is not a tar of `towpath export`");
  } finally {
    archive.destroy();
    tar.destroy();
  }
}

const isDiskError = (error: unknown) => error instanceof Error && "syscall" in error;

class Unpacking {
  readonly #directory: string;
  readonly #limits: UnpackLimits;
  /** Written last, so that no file is written through one. */
  readonly #links = new Map<string, string>();
  #root: string | null = null;
  #entries = 0;
  #bytes = 0;

  constructor(directory: string, limits: UnpackLimits) {
    this.#directory = directory;
    this.#limits = limits;
  }

  async take(entry: Yielded): Promise<void> {
    const { name, type, size = 0, mode = 0, linkname } = entry.header;
    const [root = "", ...parts] = insideParts(name);
    this.#root ??= root;
    if (root !== this.#root) throw notWhole("it has more than one directory at its top");
    this.#count(size);
    const path = parts.join("/");
    if (type === "directory") await mkdir(join(this.#directory, path), { recursive: true }).catch(refusePath(path));
    else if (type === "symlink") this.#addLink(path, linkname ?? "");
    else if (type === "file" && path !== "") {
      const file = join(this.#directory, path);
      await mkdir(dirname(file), { recursive: true }).catch(refusePath(path));
      const permissions = (mode & 0o100) === 0 ? 0o644 : 0o755;
      // By its iterator, which fails if the tar has ended already: a pipe from it would wait forever.
      const content = Readable.from(entry);
      await pipeline(content, createWriteStream(file, { flags: "wx", mode: permissions })).catch(refusePath(path));
      return;
    } else
      throw new Refusal(`${shown(name)} in the export is neither a file, a directory nor a link. Nothing was done.`);
    entry.resume();
  }

  async writeLinks(): Promise<void> {
    for (const [path, target] of this.#links) {
      const link = join(this.#directory, path);
      await mkdir(dirname(link), { recursive: true }).catch(refusePath(path));
      await symlink(target, link).catch(refusePath(path));
    }
  }

  #addLink(path: string, target: string): void {
    requireInsideLink(path, target);
    if (this.#links.has(path)) refusePath(path)({ code: "EEXIST" });
    this.#links.set(path, target);
  }

  #count(bytes: number): void {
    this.#entries += 1;
    this.#bytes += bytes;
    const { bytes: maxBytes, entries: maxEntries } = this.#limits;
    if (this.#bytes > maxBytes) throw new Refusal(`The export is larger than ${Math.floor(maxBytes / 1024 ** 2)} MB.`);
    if (this.#entries > maxEntries) throw new Refusal(`The export has more than ${maxEntries} files.`);
  }
}

/** For a path that is there already, as a file, directory or link, and for one that no file system takes. */
const refusePath = (path: string) => (error: unknown) => {
  const { code } = error as { readonly code?: string };
  if (code === "ENAMETOOLONG") throw new Refusal(`The export has the path ${shown(path)}, which is too long.`);
  if (code !== "EEXIST" && code !== "ENOTDIR") throw error;
  throw new Refusal(`The export has ${shown(path)} twice. Nothing was done.`);
};
