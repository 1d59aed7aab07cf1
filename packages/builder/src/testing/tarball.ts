import { tarball } from "../fetch/tarball.ts";

/** A tarball like GitHub's, with one top-level directory. Keys are paths, values the contents. */
export function repository(files: Readonly<Record<string, string>>): Promise<ReadableStream<Uint8Array>> {
  return tarball(Object.entries(files).map(([path, text]) => ({ name: `owner-repo-0123456/${path}`, text })));
}
