import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { GitFailure, pipeToGit, runGit } from "../../run-git.ts";
import { runOn } from "../bare-repository.ts";

const timeoutMs = 20 * 60_000;

/**
 * Writes a bundle of the objects reachable from refs (full names) but not from the `known` objects. False, without a
 * file, if there are none.
 */
export async function createBundle(
  directory: string,
  bundle: { readonly file: string; readonly refs: readonly string[]; readonly known: Iterable<string> },
): Promise<boolean> {
  if (bundle.refs.length === 0) return false;
  const input = [...bundle.refs, ...[...new Set(bundle.known)].map((sha) => `^${sha}`), ""].join("\n");
  try {
    const args = ["bundle", "create", "--quiet", bundle.file, "--stdin"];
    await runGit(args, { ...runOn(directory, { timeoutMs }), input });
    return true;
  } catch (error) {
    if (error instanceof GitFailure && /Refusing to create empty bundle/.test(error.stderr)) return false;
    throw error;
  }
}

/**
 * Stores a bundle's objects in a repository, without its refs. Unlike `git bundle unbundle`, its prerequisites need not
 * be reachable from refs. Several processes may do so at once.
 */
export async function unpackBundle(directory: string, file: string): Promise<void> {
  const start = await packStart(file);
  await pipeToGit(["index-pack", "--stdin", "--fix-thin"], runOn(directory, { timeoutMs }), (stream) =>
    pipeline(createReadStream(file, { start }), stream),
  );
}

/** After the header's empty line (gitformat-bundle). */
async function packStart(file: string): Promise<number> {
  let [at, last] = [0, 0];
  for await (const chunk of createReadStream(file)) {
    for (const byte of chunk as Buffer) {
      at += 1;
      if (byte === 10 && last === 10) return at;
      last = byte;
    }
  }
  throw new Error(`${file} is no bundle`);
}
