import { randomUUID } from "node:crypto";
import { constants, lstatSync, type Stats } from "node:fs";
import { chown, type FileHandle, link, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** Smaller files are many and small in total: a fourteenth of 2 GB of packages. */
const minBytes = 128 * 1024;
const chunkBytes = 1024 * 1024;
/** Where uv keeps unpacked wheels: `archive-v0/<id>/<path in site-packages>`. */
const archivesOf = /^archive-v\d+$/;

/**
 * Lets a finished dependency layer and uv's cache share their larger files by hard links where uv has copied them. The
 * layer must not change meanwhile; builds may change the cache. Resolves to the bytes saved on disk.
 *
 * A build can't write through such a link: the file belongs to the platform, is read-only, and nobody has it open for
 * writing. So the cache gets a link to the layer's file, which only sandboxes that have ended could write; the layer
 * gets a link to the cache's file only if the platform owns it, like those of earlier layers. Does nothing where builds
 * run as the platform's user.
 */
export async function shareWithCache(layer: string, cache: string): Promise<number> {
  if (process.getuid?.() !== 0) return 0;
  const files = await largeFiles(layer);
  if (files.length === 0) return 0;
  let bytes = 0;
  const root = await openDirectory(cache);
  try {
    const archives = await unpackedWheels(root, new Set(files.map(({ parts: [top = ""] }) => top)));
    for (const file of files) {
      for (const archive of archives.get(file.parts[0] ?? "") ?? []) {
        const shared = await share(file, root, [...archive, ...file.parts.slice(0, -1)]).catch(() => 0);
        bytes += shared;
        if (shared > 0) break;
      }
    }
  } finally {
    await root.close();
  }
  return bytes;
}

/** Whether a file in the cache belongs to a layer, so that no build can write to it, or has. */
export const isOfLayer = ({ uid, mode }: Pick<Stats, "uid" | "mode">): boolean =>
  process.getuid?.() === 0 && uid === 0 && (mode & 0o222) === 0;

type LayerFile = { readonly path: string; readonly parts: readonly string[]; readonly found: Stats };

/**
 * Files of other users in `lib/python…/site-packages`, with the names on their path below it. A build may have put a link
 * in the place of each of these directories, and the platform would follow it to files of the host.
 */
async function largeFiles(layer: string): Promise<LayerFile[]> {
  const files: LayerFile[] = [];
  const waiting: string[][] = [];
  const hasLibrary = (await directoriesIn(layer)).includes("lib");
  for (const name of hasLibrary ? await directoriesIn(join(layer, "lib")) : []) {
    const below = await directoriesIn(join(layer, "lib", name));
    if (below.includes("site-packages")) waiting.push(["lib", name, "site-packages"]);
  }
  for (let parts = waiting.pop(); parts !== undefined; parts = waiting.pop()) {
    const directory = join(layer, ...parts);
    for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory()) waiting.push([...parts, entry.name]);
      if (!entry.isFile()) continue;
      const path = join(directory, entry.name);
      // One by one in the thread pool, a layer's thousands of files take eight times the processor time.
      const found = lstatSync(path);
      if (found.size >= minBytes && found.uid !== 0)
        files.push({ path, parts: [...parts.slice(3), entry.name], found });
    }
  }
  return files;
}

const namesIn = (directory: string) => readdir(directory).catch(() => []);

/** Without links to directories. */
async function directoriesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** The archives that have a top-level entry of one of these names, by name, as paths below the cache. */
async function unpackedWheels(cache: FileHandle, names: ReadonlySet<string>): Promise<Map<string, string[][]>> {
  const found = new Map<string, string[][]>();
  for (const bucket of (await namesIn(inside(cache))).filter((name) => archivesOf.test(name))) {
    for (const archive of await namesBelow(cache, [bucket])) {
      for (const name of await namesBelow(cache, [bucket, archive])) {
        if (names.has(name)) found.set(name, [...(found.get(name) ?? []), [bucket, archive]]);
      }
    }
  }
  return found;
}

/** Links one of the two to the other if they are equal. Resolves to the bytes that this frees. */
async function share({ path, found }: LayerFile, cache: FileHandle, parts: readonly string[]): Promise<number> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const directory = await descend(cache, parts);
  try {
    const cached = join(inside(directory), name);
    const file = await open(cached, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const other = await file.stat();
      if (!other.isFile() || other.dev !== found.dev || other.size !== found.size || other.ino === found.ino) return 0;
      if (!(await isEqual(file, path))) return 0;
      if (isOfLayer(other)) {
        if (other.mode !== found.mode) return 0;
        await replace(cached, path, other);
      } else {
        await chown(path, 0, 0);
        await replace(path, cached, found);
      }
      return other.blocks * 512;
    } finally {
      await file.close();
    }
  } finally {
    await directory.close();
  }
}

/** Replaces `target` by a link to `source`, which must still be that file. */
async function replace(source: string, target: string, { ino }: Stats): Promise<void> {
  const partial = join(target, "..", `.${randomUUID()}`);
  await link(source, partial);
  try {
    if ((await lstat(partial)).ino !== ino) throw new Error("The file was replaced meanwhile.");
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function isEqual(one: FileHandle, path: string): Promise<boolean> {
  const other = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const buffers = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)] as const;
  try {
    for (let position = 0; ; ) {
      const [{ bytesRead }, same] = await Promise.all([
        one.read(buffers[0], 0, chunkBytes, position),
        other.read(buffers[1], 0, chunkBytes, position),
      ]);
      if (bytesRead !== same.bytesRead) return false;
      if (bytesRead === 0) return true;
      if (buffers[0].compare(buffers[1], 0, bytesRead, 0, bytesRead) !== 0) return false;
      position += bytesRead;
    }
  } finally {
    await other.close();
  }
}

// The organization's builds may replace any directory of the cache by a link at any moment. So each is opened from its
// parent, without following links, and its content is reached through the descriptor.

const inside = (directory: FileHandle) => `/proc/self/fd/${directory.fd}`;

const openDirectory = (path: string) =>
  open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK);

async function descend(root: FileHandle, parts: readonly string[]): Promise<FileHandle> {
  let at = await openDirectory(`${inside(root)}/.`);
  for (const part of parts) {
    const above = at;
    at = await openDirectory(join(inside(above), part)).finally(() => above.close());
  }
  return at;
}

async function namesBelow(root: FileHandle, parts: readonly string[]): Promise<string[]> {
  const directory = await descend(root, parts).catch(() => null);
  if (directory === null) return [];
  try {
    return await namesIn(inside(directory));
  } finally {
    await directory.close();
  }
}
