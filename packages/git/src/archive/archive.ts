import { Readable } from "node:stream";
import type { SourceWarning } from "@towpath/core/ports";
import type { Connection, ConnectionOptions } from "../connection.ts";
import { killGit, startGit } from "../run-git.ts";
import type { Scratch } from "../scratch.ts";
import { completeCommit } from "./complete-commit.ts";

export type ArchiveOptions = {
  readonly connection: ConnectionOptions;
  readonly warn: (warning: SourceWarning) => void;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
};

/**
 * Streams a commit, which the scratch directory's repository must have, as a gzipped tar with one top-level directory.
 * If git fails midway, the stream breaks, so that a partial archive can't be mistaken for a complete one. Its end, of
 * whatever kind, removes the scratch directory.
 */
export async function archiveOf(
  sha: string,
  scratch: Scratch,
  connection: Connection,
  options: ArchiveOptions,
): Promise<ReadableStream<Uint8Array>> {
  await completeCommit(sha, scratch, connection, options);
  return streamArchive(sha, scratch, options.signal);
}

/** The same for a commit as it is. */
export function streamArchive(sha: string, scratch: Scratch, signal: AbortSignal): ReadableStream<Uint8Array> {
  signal.throwIfAborted();
  const child = startGit(["archive", "--format=tar.gz", `--prefix=${sha}/`, sha], scratch);
  child.stdin.end();
  child.stderr.resume();
  const stop = () => child.stdout.destroy(asError(signal.reason));
  signal.addEventListener("abort", stop, { once: true });
  child.once("error", (error) => child.stdout.destroy(error));
  child.once("exit", (code) => {
    if (code !== 0) child.stdout.destroy(new Error("git archive failed"));
  });
  child.stdout.once("close", () => {
    signal.removeEventListener("abort", stop);
    killGit(child);
    scratch.close().catch(() => {});
  });
  return Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
}

const asError = (reason: unknown) => (reason instanceof Error ? reason : new Error("aborted", { cause: reason }));
