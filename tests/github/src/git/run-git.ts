import { execFile, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { gitEnvironment } from "@towpath/git";

const execute = promisify(execFile);

/** A failure of git. `message` ends with the last part of its stderr. */
export class GitError extends Error {
  override readonly name = "GitError";
}

export type GitOptions = {
  /** The bare repository. */
  readonly directory: string;
  readonly input?: string | Uint8Array;
  /** Added to the minimal environment. */
  readonly env?: Readonly<Record<string, string>>;
};

const timeoutMs = 60_000;
const maxOutputBytes = 64 * 1024 * 1024;

/** Runs git on a bare repository and returns its stdout. Throws `GitError` unless it succeeds. */
export async function runGit(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const { directory, input = "", env } = options;
  const running = execute("git", ["--git-dir", directory, ...args], {
    cwd: directory,
    env: { ...gitEnvironment(directory), ...env },
    encoding: "buffer",
    timeout: timeoutMs,
    maxBuffer: maxOutputBytes,
    killSignal: "SIGKILL",
  });
  // git may exit without reading its input; its exit status tells why.
  running.child.stdin?.on("error", () => {});
  running.child.stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim().slice(-2000) : "";
    throw new GitError(`git ${args[0]} failed: ${stderr || error}`, { cause: error });
  }
}

export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  return (await runGit(args, options)).toString("utf8");
}

/**
 * Streams the commit as a gzipped tar with one top-level directory. If git fails midway, the stream breaks, so that a
 * partial archive can't be mistaken for a complete one.
 */
export function archive(
  directory: string,
  sha: string,
  topDirectory: string,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const args = ["--git-dir", directory, "archive", "--format=tar.gz", `--prefix=${topDirectory}/`, sha];
  const child = spawn("git", args, {
    cwd: directory,
    env: gitEnvironment(directory),
    stdio: ["ignore", "pipe", "ignore"],
    signal,
    killSignal: "SIGKILL",
  });
  child.on("error", (error) => child.stdout.destroy(error));
  child.on("exit", (code) => {
    if (code !== 0) child.stdout.destroy(new Error("git archive failed"));
  });
  return Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
}
