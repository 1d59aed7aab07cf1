import { tooManyFiles } from "./problems.ts";
import { GitFailure, type GitRun, gitText, runGit } from "./run-git.ts";

export type TreeEntry = {
  /** Six octal digits: `100644`, `100755`, `120000` (link), `160000` (submodule). */
  readonly mode: string;
  readonly oid: string;
  readonly path: string;
};

const maxFiles = 100_000;
const maxTreeBytes = 32 * 1024 * 1024;

/**
 * All files of a commit. A small repository can contain the same tree so often that no list of its files ends.
 *
 * @throws TowpathError `invalid_input` for too many files
 */
export async function listTree(sha: string, run: GitRun): Promise<readonly TreeEntry[]> {
  const text = await gitText(["ls-tree", "-r", "-z", "--full-tree", sha], {
    ...run,
    maxOutputBytes: maxTreeBytes,
  }).catch((error: unknown) => {
    throw error instanceof GitFailure && error.reason === "too_much_output" ? tooManyFiles(maxFiles) : error;
  });
  const entries = text.split("\0").flatMap((record) => {
    const [, mode, oid, path] = /^(\d{6}) \w+ ([0-9a-f]+)\t([\s\S]+)$/.exec(record) ?? [];
    return mode === undefined || oid === undefined || path === undefined ? [] : [{ mode, oid, path }];
  });
  if (entries.length > maxFiles) throw tooManyFiles(maxFiles);
  return entries;
}

export const isFile = ({ mode }: TreeEntry) => mode.startsWith("100");

/** Sizes of these objects, without missing ones. */
export async function sizesOf(oids: readonly string[], run: GitRun): Promise<ReadonlyMap<string, number>> {
  const input = `${oids.join("\n")}\n`;
  const text = await gitText(["cat-file", "--batch-check=%(objectname) %(objectsize)"], { ...run, input });
  const found = text.split("\n").flatMap((line) => {
    const [, oid, size] = /^([0-9a-f]+) (\d+)$/.exec(line) ?? [];
    return oid === undefined ? [] : [[oid, Number(size)] as const];
  });
  return new Map(found);
}

/** Contents of blobs, without missing ones. They must be small in sum. */
export async function readBlobs(oids: readonly string[], run: GitRun): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>();
  if (oids.length === 0) return found;
  const output = await runGit(["cat-file", "--batch=%(objectname) %(objectsize)"], {
    ...run,
    input: `${oids.join("\n")}\n`,
  });
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0x0a, at);
    const [, oid, size] = /^([0-9a-f]+) (\d+)$/.exec(output.toString("latin1", at, end)) ?? [];
    at = end + 1;
    if (oid === undefined) continue;
    found.set(oid, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return found;
}

const maxReadBytes = 1024 * 1024;

/** Null for a missing blob, and for one of more than 1 MB. */
export async function readSmallBlob(oid: string | undefined, run: GitRun): Promise<Buffer | null> {
  if (oid === undefined) return null;
  const size = (await sizesOf([oid], run)).get(oid);
  if (size === undefined || size > maxReadBytes) return null;
  return (await readBlobs([oid], run)).get(oid) ?? null;
}

export async function hasCommit(sha: string, run: GitRun): Promise<boolean> {
  return (await sizesOf([`${sha}^{commit}`], run)).has(sha);
}
