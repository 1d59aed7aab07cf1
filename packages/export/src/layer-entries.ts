import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import { type Header, extract as untar } from "tar-stream";

/** An entry of a tar. Read its content before the next one, or not at all. */
export type TarEntry = {
  readonly header: Header;
  /** Without `./`; empty: the root. */
  readonly path: string;
  readonly content: AsyncIterable<Uint8Array>;
};

/** The type that tar-stream yields but doesn't export. */
export type Yielded = AsyncIterable<Uint8Array> & { readonly header: Header; resume(): unknown };

/** The entries of a layer: a tar that is compressed by zstd. */
export async function* layerEntries(layer: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const unpack = untar();
  const fed = pipeline(layer, createZstdDecompress(), unpack);
  // Reported below; this only keeps an earlier rejection from being "unhandled".
  fed.catch(() => {});
  try {
    for await (const entry of unpack as AsyncIterable<Yielded>) {
      const path = entry.header.name.replace(/^\.\//, "").replace(/\/$/, "");
      yield { header: entry.header, path: path === "." ? "" : path, content: entry };
      entry.resume();
    }
    await fed;
  } finally {
    unpack.destroy();
  }
}

/** @throws Error above `maxBytes` */
export async function bytesOf(content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`A file of a layer has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
