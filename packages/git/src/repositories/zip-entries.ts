import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { createInflateRaw } from "node:zlib";
import { type ArchiveEntry, type ArchiveLimits, tooLargeArchive, unusable } from "./archive-entry.ts";

// The parts of a zip that are used here (PKWARE's APPNOTE 6.3, section 4.3): the end of the central directory, the
// central directory, and each file's local header, of which only the length is read.

const signatures = { end: 0x06054b50, central: 0x02014b50, local: 0x04034b50 };
const endBytes = 22;
const maxCommentBytes = 65_535;
const centralBytes = 46;
const localBytes = 30;
const methods = { stored: 0, deflated: 8 };
/** In place of a number that doesn't fit: it is in an extra field (zip64). */
const elsewhere = 0xffffffff;
/** Upper byte of "version made by": Unix attributes. */
const unix = 3;
const fileTypes = { link: 0o120000, directory: 0o040000, file: 0o100000 };
const encrypted = 1;
const maxTargetBytes = 4096;

const damaged = () => unusable("The zip can't be read: it is incomplete or damaged. Make it again.");
const zip64 = () => unusable("The zip is of a kind for very large archives (zip64). Make a .tar.gz instead.");

type Central = {
  readonly name: string;
  readonly kind: ArchiveEntry["kind"];
  readonly isExecutable: boolean;
  readonly method: number;
  readonly packedBytes: number;
  readonly size: number;
  readonly at: number;
};

/** @throws TowpathError `invalid_input` */
export async function* zipEntries(file: string, limits: ArchiveLimits): AsyncGenerator<ArchiveEntry> {
  const handle = await open(file);
  try {
    const entries = await readDirectory(handle, limits);
    if (entries.reduce((sum, { size }) => sum + size, 0) > limits.bytes) {
      throw tooLargeArchive(limits.bytes, "Its files are");
    }
    for (const entry of entries) {
      const { name, isExecutable, size, kind } = entry;
      const content = contentOf(handle, entry);
      const target = kind === "link" ? await textOf(content, size) : "";
      yield { name, kind, isExecutable, size, target, content };
    }
  } finally {
    await handle.close();
  }
}

async function bytesAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  if (bytesRead < length) throw damaged();
  return buffer;
}

async function readDirectory(handle: FileHandle, limits: ArchiveLimits): Promise<readonly Central[]> {
  const { size } = await handle.stat();
  const tailBytes = Math.min(size, endBytes + maxCommentBytes);
  const tail = await bytesAt(handle, size - tailBytes, tailBytes);
  let end = tail.length - endBytes;
  while (end >= 0 && tail.readUInt32LE(end) !== signatures.end) end -= 1;
  if (end < 0) throw damaged();
  const count = tail.readUInt16LE(end + 10);
  const [length, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (count === 0xffff || length === elsewhere || start === elsewhere) throw zip64();
  if (count > limits.files) throw unusable(`The archive has more than ${limits.files} entries, the limit here.`);
  if (start + length > size) throw damaged();
  const directory = await bytesAt(handle, start, length);
  const entries: Central[] = [];
  for (let at = 0; entries.length < count; ) {
    if (at + centralBytes > directory.length || directory.readUInt32LE(at) !== signatures.central) throw damaged();
    const nameBytes = directory.readUInt16LE(at + 28);
    const next = at + centralBytes + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    if (next > directory.length) throw damaged();
    entries.push(centralEntry(directory.subarray(at, next), nameBytes));
    at = next;
  }
  return entries;
}

function centralEntry(bytes: Buffer, nameBytes: number): Central {
  const name = bytes.toString("utf8", centralBytes, centralBytes + nameBytes);
  if ((bytes.readUInt16LE(8) & encrypted) !== 0) throw unusable("The zip is encrypted. Make one without a password.");
  const [packedBytes, size, at] = [bytes.readUInt32LE(20), bytes.readUInt32LE(24), bytes.readUInt32LE(42)];
  if ([packedBytes, size, at].includes(elsewhere)) throw zip64();
  const mode = bytes.readUInt8(5) === unix ? bytes.readUInt32LE(38) >>> 16 : 0;
  const type = mode & 0o170000;
  const isDirectory = name.endsWith("/") || type === fileTypes.directory;
  const isFile = type === fileTypes.file || type === 0;
  const kind = isDirectory ? "directory" : type === fileTypes.link ? "link" : isFile ? "file" : "other";
  const method = bytes.readUInt16LE(10);
  return { name, kind, isExecutable: (mode & 0o100) !== 0, method, packedBytes, size, at };
}

const chunkBytes = 64 * 1024;

async function* packedContent(handle: FileHandle, { at, packedBytes }: Central): AsyncGenerator<Buffer> {
  const local = await bytesAt(handle, at, localBytes);
  if (local.readUInt32LE(0) !== signatures.local) throw damaged();
  let from = at + localBytes + local.readUInt16LE(26) + local.readUInt16LE(28);
  for (let left = packedBytes; left > 0; ) {
    const chunk = await bytesAt(handle, from, Math.min(left, chunkBytes));
    yield chunk;
    from += chunk.length;
    left -= chunk.length;
  }
}

/** Content of another length than the directory says is damaged, or a bomb. */
async function* contentOf(handle: FileHandle, entry: Central): AsyncGenerator<Uint8Array> {
  const packed = packedContent(handle, entry);
  let bytes = 0;
  for await (const chunk of unpacked(packed, entry.method)) {
    bytes += chunk.length;
    if (bytes > entry.size) throw damaged();
    yield chunk;
  }
  if (bytes !== entry.size) throw damaged();
}

function unpacked(packed: AsyncGenerator<Buffer>, method: number): AsyncIterable<Buffer> {
  if (method === methods.stored) return packed;
  if (method !== methods.deflated)
    throw unusable("The zip is compressed in an unusual way. Make it again, or a .tar.gz.");
  return Readable.from(packed).compose(createInflateRaw());
}

async function textOf(content: AsyncIterable<Uint8Array>, size: number): Promise<string> {
  if (size > maxTargetBytes) throw damaged();
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
