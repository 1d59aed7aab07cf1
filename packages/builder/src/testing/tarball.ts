import { tarball } from "../fetch/tarball.ts";

/** A tarball like GitHub's, with one top-level directory. Keys are paths, values the contents. */
export function repository(
  files: Readonly<Record<string, string>>,
  committedAt = new Date(),
): Promise<ReadableStream<Uint8Array>> {
  const entries = Object.entries(files).map(([path, text]) => ({ name: `owner-repo-0123456/${path}`, text }));
  return tarball(entries.map((entry) => ({ ...entry, mtime: committedAt })));
}
