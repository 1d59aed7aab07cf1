import { deflateRawSync, gzipSync } from "node:zlib";
import { pack } from "tar-stream";

/** An entry of an archive in a test. `mode`: with the file's type, as Unix has it, in a zip. */
export type TestEntry = {
  readonly name: string;
  readonly content?: string | Uint8Array;
  readonly type?: "file" | "directory" | "symlink" | "link" | "character-device";
  readonly target?: string;
  readonly mode?: number;
};

export const streamOf = (bytes: Uint8Array): ReadableStream<Uint8Array> => new Blob([Buffer.from(bytes)]).stream();

export async function makeTar(entries: readonly TestEntry[], { gzip = true } = {}): Promise<Buffer> {
  const tar = pack();
  for (const { name, content = "", type = "file", target, mode = 0o644 } of entries) {
    const bytes = Buffer.from(content);
    tar.entry({ name, type, mode, ...(target !== undefined && { linkname: target }) }, bytes);
  }
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return gzip ? gzipSync(bytes) : bytes;
}

const zipTypes = { file: 0o100000, directory: 0o040000, symlink: 0o120000, link: 0, "character-device": 0o020000 };

/** `size`: a false size of every file in the directory. */
export function makeZip(
  entries: readonly TestEntry[],
  { stored = false, size = null as number | null, flags = 0 } = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content = "", type = "file", target, mode = 0o644 } of entries) {
    const bytes = Buffer.from(target ?? content);
    const packed = stored ? bytes : deflateRawSync(bytes);
    const nameBytes = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(stored ? 0 : 8, 8);
    local.writeUInt16LE(nameBytes.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt8(3, 5);
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(stored ? 0 : 8, 10);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(size ?? bytes.length, 24);
    central.writeUInt16LE(nameBytes.length, 28);
    central.writeUInt32LE(((zipTypes[type] | mode) << 16) >>> 0, 38);
    central.writeUInt32LE(at, 42);
    parts.push(local, nameBytes, packed);
    directory.push(central, nameBytes);
    at += local.length + nameBytes.length + packed.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, central, end]);
}
