import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import { encryptFile, type FileRecipient } from "@towpath/crypto/file";
import { type Pack, pack } from "tar-stream";
import type { Contents } from "./format.ts";

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Adds a part; the next one when this resolves. */
export type AddPart = (name: string, bytes: Bytes) => Promise<void>;

const chunkBytes = 4 * 1024 * 1024;
/** Twice as fast as the usual level 3, for a few percent more bytes. */
const compressionLevel = 1;

/**
 * Writes a new encrypted file, in constant memory, with the parts that `produce` adds.
 *
 * @returns what it contains
 */
export async function writeArchive(
  path: string,
  recipient: FileRecipient,
  signal: AbortSignal,
  produce: (add: AddPart) => Promise<void>,
): Promise<Contents> {
  const tar = pack();
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } });
  const encrypted = await encryptFile(compress, recipient);
  const compressed = pipeline(tar as AsyncIterable<Uint8Array>, compress, { signal });
  const written = pipeline(encrypted, createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }));
  const contents: Contents = [];
  const add: AddPart = async (name, bytes) => {
    contents.push(await addPart(tar, name, bytes));
  };
  const produced = produce(add)
    .then(() => addPart(tar, "contents.json", [Buffer.from(JSON.stringify(contents))]))
    .then(
      () => tar.finalize(),
      (error) => {
        tar.destroy(error);
        throw error;
      },
    );
  const parts = [written, compressed, produced];
  // What failed first explains the others, which then end, too.
  await Promise.all(parts).catch(async (error: unknown) => {
    await Promise.allSettled(parts);
    throw error;
  });
  return contents;
}

async function addPart(tar: Pack, name: string, bytes: Bytes): Promise<Contents[number]> {
  const hash = createHash("sha256");
  let size = 0;
  let entries = 0;
  for await (const chunk of inChunks(bytes)) {
    entries += 1;
    hash.update(chunk);
    size += chunk.length;
    const entry = entries === 1 ? name : `${name}.${String(entries).padStart(6, "0")}`;
    await new Promise<void>((resolve, reject) => {
      const written = (error?: Error | null) => (error ? reject(error) : resolve());
      // Without a listener, its error would end the process.
      tar.entry({ name: entry, mode: 0o600 }, chunk, written).on("error", reject);
    });
  }
  return { name, bytes: size, sha256: hash.digest("hex") };
}

/** At least one, which may be empty. */
async function* inChunks(bytes: Bytes): AsyncGenerator<Buffer> {
  let pending: Uint8Array[] = [];
  let size = 0;
  let isFirst = true;
  for await (const piece of bytes) {
    pending.push(piece);
    size += piece.length;
    if (size < chunkBytes) continue;
    yield Buffer.concat(pending);
    [pending, size, isFirst] = [[], 0, false];
  }
  if (size > 0 || isFirst) yield Buffer.concat(pending);
}
