import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { createGunzip } from "node:zlib";
import { TowpathError } from "@towpath/core/errors";
import { type Header, extract as untar } from "tar-stream";
import { type ArchiveEntry, type ArchiveLimits, tooLargeArchive, unusable } from "./archive-entry.ts";
import { zipEntries } from "./zip-entries.ts";

const broken = (cause: unknown) =>
  unusable("The archive can't be read: it is incomplete or damaged. Make it again.", cause);

/** Stores an archive in a file. @throws TowpathError `invalid_input` above the limit */
export async function storeArchive(
  archive: ReadableStream<Uint8Array>,
  file: string,
  { packedBytes }: ArchiveLimits,
  signal: AbortSignal,
): Promise<void> {
  const limit = limited(packedBytes, () => tooLargeArchive(packedBytes, "The archive is"));
  await pipeline(Readable.fromWeb(archive as NodeReadableStream<Uint8Array>), limit, createWriteStream(file), {
    signal,
  });
}

/** Passes chunks on, and fails after `limit` bytes. */
function limited(limit: number, failure: () => Error): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limit) done(failure());
      else done(null, chunk);
    },
  });
}

/**
 * The entries of a zip, tar or gzipped tar, recognized by its first bytes.
 *
 * @throws TowpathError `invalid_input` for any other file, and for an archive that is damaged or too large
 */
export async function* archiveEntries(file: string, limits: ArchiveLimits): AsyncGenerator<ArchiveEntry> {
  const start = await firstBytes(file);
  const isZip = start.subarray(0, 2).toString("latin1") === "PK";
  const isGzip = start[0] === 0x1f && start[1] === 0x8b;
  const isTar = start.toString("latin1", 257, 262) === "ustar";
  if (!isZip && !isGzip && !isTar) throw unusable("This is neither a zip nor a tar archive.");
  const entries = isZip ? zipEntries(file, limits) : tarEntries(file, isGzip, limits);
  for await (const entry of readably(entries)) yield { ...entry, content: readably(entry.content) };
}

/** Reports a library's error as a damaged archive. */
async function* readably<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    throw error instanceof TowpathError || isDiskError(error) ? error : broken(error);
  }
}

const isDiskError = (error: unknown) => error instanceof Error && "syscall" in error;

async function firstBytes(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(512), 0, 512, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The type that tar-stream yields but doesn't export. */
type TarEntry = AsyncIterable<Uint8Array> & { readonly header: Header; resume(): unknown };

const tarKinds: Readonly<Record<string, ArchiveEntry["kind"]>> = {
  file: "file",
  "contiguous-file": "file",
  directory: "directory",
  symlink: "link",
  link: "same-file",
};

async function* tarEntries(file: string, isGzip: boolean, limits: ArchiveLimits): AsyncGenerator<ArchiveEntry> {
  const unpack = untar();
  // With padding and headers, so that a bomb of empty entries is limited too.
  const limit = limited(limits.bytes + limits.files * 1536, () => tooLargeArchive(limits.bytes, "Its files are"));
  const source = createReadStream(file);
  const fed = isGzip ? pipeline(source, createGunzip(), limit, unpack) : pipeline(source, limit, unpack);
  let problem: unknown = null;
  fed.catch((error: unknown) => {
    problem = error;
  });
  try {
    for await (const entry of unpack as AsyncIterable<TarEntry>) {
      const { name, type, mode = 0, size = 0, linkname } = entry.header;
      const kind = tarKinds[type ?? ""] ?? "other";
      const isExecutable = (mode & 0o100) !== 0;
      yield { name, kind, isExecutable, size: kind === "file" ? size : 0, target: linkname ?? "", content: entry };
      entry.resume();
    }
    await fed;
  } catch (error) {
    throw problem ?? error;
  } finally {
    source.destroy();
    unpack.destroy();
  }
}
