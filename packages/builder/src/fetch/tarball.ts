import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { type Header, pack } from "tar-stream";

export type TarEntry = Pick<Header, "name"> &
  Partial<Pick<Header, "type" | "linkname" | "mode" | "mtime">> & { readonly text?: string };

/** A gzipped tarball with exactly these entries and names. For few and small ones: it is built in memory. */
export async function tarball(entries: readonly TarEntry[]): Promise<ReadableStream<Uint8Array>> {
  const archive = pack();
  for (const { text = "", ...header } of entries) archive.entry(header, text);
  archive.finalize();
  const { body } = new Response(new Uint8Array(gzipSync(await buffer(archive as AsyncIterable<Uint8Array>))));
  if (body === null) throw new Error("a response with bytes has a body");
  return body;
}
