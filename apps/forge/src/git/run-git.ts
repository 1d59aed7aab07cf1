import { execFile, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { promisify } from "node:util";

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

type Setting = readonly [name: string, value: string];

/** Git flushes packs and refs, but not loose objects, which most pushes become: a power cut left refs without commits. */
const flushed: Setting = ["core.fsync", "committed"];

/**
 * The complete environment of every git process: nothing from the forge's own, which contains the App's secrets, and no
 * settings of the machine or user that would affect git.
 */
export function gitEnvironment(directory: string, ...more: Setting[]): Record<string, string> {
  const settings = [flushed, ...more];
  return {
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([name, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, name],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: directory,
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    // A path such as `:(glob)**` is a literal file name.
    GIT_LITERAL_PATHSPECS: "1",
  };
}

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
