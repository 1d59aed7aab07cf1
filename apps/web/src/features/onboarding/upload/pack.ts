import { Zip, ZipDeflate } from "fflate";
import type { FolderFile } from "./picked.ts";

/**
 * A folder as a zip.
 *
 * @param onProgress called with the bytes packed so far
 * @throws DOMException `AbortError`; `NotReadableError` and others for files that changed or vanished meanwhile
 */
export async function packFolder(
  files: readonly FolderFile[],
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (bytes: number) => void },
): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk as Uint8Array<ArrayBuffer>);
  });
  let packed = 0;
  for (const { path, file } of files) {
    signal.throwIfAborted();
    const bytes = new Uint8Array(await file.arrayBuffer());
    const entry = new ZipDeflate(path, { level: 6 });
    // Always the same bytes for the same files.
    entry.mtime = new Date(1980, 1, 1);
    zip.add(entry);
    entry.push(bytes, true);
    packed += bytes.length;
    onProgress(packed);
  }
  zip.end();
  return new Blob(chunks, { type: "application/zip" });
}
