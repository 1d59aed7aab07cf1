import { Readable } from "node:stream";
import type { SourceWarning } from "@towpath/core/ports";
import type { Connection, ConnectionOptions } from "../connection.ts";
import { listTree, sizesOf, type TreeEntry } from "../objects.ts";
import { tooLarge, unavailable } from "../problems.ts";
import { type GitRun, killGit, startGit } from "../run-git.ts";
import type { Scratch } from "../scratch.ts";
import { completeCommit } from "./complete-commit.ts";

export type ArchiveOptions = {
  readonly connection: ConnectionOptions;
  readonly warn: (warning: SourceWarning) => void;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
};

/**
 * Streams a commit of the scratch directory's repository as a gzipped tar with one top-level directory. If git fails
 * midway or takes too long, the stream breaks with a TowpathError, so that a partial archive can't be mistaken for a
 * complete one. The scratch directory is removed in any case.
 *
 * @throws TowpathError `invalid_input` for files that are too large in sum
 */
export async function archiveOf(
  sha: string,
  scratch: Scratch,
  connection: Connection,
  options: ArchiveOptions,
): Promise<ReadableStream<Uint8Array>> {
  await completeCommit(sha, scratch, connection, options);
  return streamArchive(sha, scratch, { ...options, maxBytes: scratch.maxBytes });
}

type ArchiveLimits = Pick<ArchiveOptions, "signal" | "timeoutMs"> & {
  /** Of the files in sum. */
  readonly maxBytes: number;
};

/** The same for a commit as it is. */
export async function streamArchive(
  sha: string,
  scratch: Scratch,
  { signal, timeoutMs, maxBytes }: ArchiveLimits,
): Promise<ReadableStream<Uint8Array>> {
  await requireSize(sha, { scratch, signal }, maxBytes);
  signal.throwIfAborted();
  const child = startGit(["archive", "--format=tar.gz", `--prefix=${sha}/`, sha], scratch);
  child.stdin.end();
  child.stderr.resume();
  const stop = () => child.stdout.destroy(asError(signal.reason));
  signal.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(() => child.stdout.destroy(broken("took too long")), timeoutMs);
  child.once("error", (error) => child.stdout.destroy(error));
  child.once("exit", (code) => {
    if (code !== 0) child.stdout.destroy(broken("failed"));
  });
  child.stdout.once("close", () => {
    signal.removeEventListener("abort", stop);
    clearTimeout(timer);
    killGit(child);
    scratch.close().catch(() => {});
  });
  return Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
}

/** A small repository can name the same large file many times. */
async function requireSize(sha: string, run: GitRun, maxBytes: number): Promise<void> {
  const files = (await listTree(sha, run)).filter(({ mode }) => mode !== "160000");
  const sizes = await sizesOf([...new Set(files.map(({ oid }) => oid))], run);
  const sizeOf = ({ oid }: TreeEntry) => sizes.get(oid) ?? 0;
  if (files.reduce((sum, file) => sum + sizeOf(file), 0) <= maxBytes) return;
  const largest = files.reduce((one, other) => (sizeOf(other) > sizeOf(one) ? other : one));
  throw tooLarge(maxBytes, largest.path);
}

const broken = (how: string) => unavailable(`Making the archive of the repository's files ${how} here.`);

const asError = (reason: unknown) => (reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
