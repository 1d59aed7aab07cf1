import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { gitEnvironment } from "./git-environment.ts";
import { directoryBytes, type Scratch } from "./scratch.ts";

type FailureReason = "failed" | "timeout" | "too_large" | "too_much_output" | "not_installed";

/** Why a git process did not succeed. `stderr` may quote hosts and is for operators only. */
export class GitFailure extends Error {
  override readonly name = "GitFailure";
  readonly reason: FailureReason;
  readonly stderr: string;
  /** Null if it was ended by a signal or didn't run. */
  readonly status: number | null;
  constructor(
    reason: FailureReason,
    args: readonly string[],
    stderr: string,
    more: { readonly cause?: unknown; readonly status?: number | null } = {},
  ) {
    super(`git ${args[0]}: ${reason}`, { cause: more.cause });
    this.reason = reason;
    this.stderr = stderr;
    this.status = more.status ?? null;
  }
}

export type GitRun = {
  readonly scratch: Scratch;
  /** Settings and credential of a connection; without them, no protocol is allowed. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly signal?: AbortSignal | undefined;
};

type Input = { readonly input?: string | Uint8Array };

type Git = ChildProcessByStdio<Writable, Readable, Readable>;

const defaultTimeoutMs = 60_000;
const defaultMaxOutputBytes = 64 * 1024 * 1024;
const maxStderr = 16 * 1024;
const watchMs = 300;
/** Limits of heap and processor time, which hostile packs can exhaust. */
const processLimits = ["--core=0", "--data=2147483648", "--cpu=300"];

/** Starts git on the scratch directory's repository, in a process group of its own. */
export function startGit(args: readonly string[], scratch: Scratch, env: Readonly<Record<string, string>> = {}): Git {
  const limits = [...processLimits, ...(Number.isFinite(scratch.maxBytes) ? [`--fsize=${scratch.maxBytes}`] : [])];
  return spawn("prlimit", [...limits, "--", "git", ...args], {
    cwd: scratch.directory,
    env: {
      ...gitEnvironment(scratch.directory),
      GIT_DIR: scratch.repository,
      GIT_ALLOW_PROTOCOL: "",
      GIT_OPTIONAL_LOCKS: "0",
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
}

/** Ends git with the programs that it has started, such as its transports. */
export function killGit(child: Git): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}

/**
 * Runs git and returns its stdout.
 *
 * @throws GitFailure, or the signal's reason
 */
export function runGit(args: readonly string[], options: GitRun & Input): Promise<Buffer> {
  return pipeToGit(args, options, async (stream) => {
    stream.end(options.input);
  });
}

/**
 * The same with an input that `write` writes until it resolves. If it throws, git is killed.
 *
 * @throws GitFailure, what `write` throws, or the signal's reason
 */
export async function pipeToGit(
  args: readonly string[],
  options: GitRun,
  write: (stream: Writable) => Promise<void>,
): Promise<Buffer> {
  const { scratch, env, signal, timeoutMs = defaultTimeoutMs, maxOutputBytes = defaultMaxOutputBytes } = options;
  signal?.throwIfAborted();
  const child = startGit(args, scratch, env);
  let stopped: FailureReason | null = null;
  let unwritten: { readonly error: unknown } | null = null;
  const stop = (reason: FailureReason) => {
    stopped ??= reason;
    killGit(child);
  };
  const onAbort = () => killGit(child);
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => stop("timeout"), timeoutMs);
  const unwatch = watchSize(scratch, () => stop("too_large"));
  const stderr = lastPart(child.stderr, maxStderr);
  const output = collect(child.stdout, maxOutputBytes, () => stop("too_much_output"));
  // git may exit without reading its input; its exit status shows why.
  child.stdin.on("error", () => {});
  const over = ended(child);
  const written = write(child.stdin).then(
    () => void child.stdin.end(),
    (error: unknown) => {
      // If git has exited already, its stderr is the reason.
      if (child.exitCode === null && child.signalCode === null) unwritten = { error };
      killGit(child);
    },
  );
  try {
    const [code] = await Promise.all([over, written]);
    signal?.throwIfAborted();
    const failed = unwritten as { readonly error: unknown } | null;
    if (failed !== null) throw failed.error;
    const safe = withoutCredential(stderr(), env);
    if (stopped !== null) throw new GitFailure(stopped, args, safe);
    if (code !== 0) throw new GitFailure(await reasonOf(code, safe, scratch), args, safe, { status: code });
    return output();
  } catch (error) {
    if (error instanceof GitFailure || signal?.aborted || error === (unwritten as { error: unknown } | null)?.error)
      throw error;
    throw new GitFailure("not_installed", args, "", { cause: error });
  } finally {
    clearTimeout(timer);
    unwatch();
    signal?.removeEventListener("abort", onAbort);
  }
}

export async function gitText(args: readonly string[], options: GitRun & Input): Promise<string> {
  return (await runGit(args, options)).toString("utf8");
}

const ended = (child: Git) =>
  new Promise<number | null>((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });

/** A host may quote the credential that it received. */
function withoutCredential(text: string, env: Readonly<Record<string, string>> = {}): string {
  const sent = Object.values(env).flatMap((value) => /^Authorization: Basic (\S+)$/.exec(value)?.[1] ?? []);
  const secrets = sent.flatMap((basic) => [
    basic,
    Buffer.from(basic, "base64")
      .toString("utf8")
      .replace(/^[^:]*:/, ""),
  ]);
  return secrets.reduce((kept, secret) => kept.replaceAll(secret, "[credential]"), text);
}

async function reasonOf(code: number | null, stderr: string, scratch: Scratch): Promise<FailureReason> {
  if (code === 127 || /prlimit: failed to execute/.test(stderr)) return "not_installed";
  // 25: SIGXFSZ, the limit of a file's size. A fetch reports only that index-pack died; the file then has that size.
  if (/died of signal 25|File too large/.test(stderr)) return "too_large";
  const isCutOff = /index-pack/.test(stderr) && (await directoryBytes(scratch.directory)) >= scratch.maxBytes;
  return isCutOff ? "too_large" : "failed";
}

/** Keeps the last part of a stream as text. */
function lastPart(stream: Readable, max: number): () => string {
  let kept = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-max);
  });
  return () => kept.toString("utf8");
}

function collect(stream: Readable, max: number, onTooMuch: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= max) chunks.push(chunk);
    else onTooMuch();
  });
  return () => Buffer.concat(chunks);
}

/** Calls `onTooLarge` when the directory has grown too large. */
function watchSize(scratch: Scratch, onTooLarge: () => void): () => void {
  if (!Number.isFinite(scratch.maxBytes)) return () => {};
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  const check = async () => {
    const bytes = await directoryBytes(scratch.directory);
    if (isOver) return;
    if (bytes > scratch.maxBytes) onTooLarge();
    else timer = setTimeout(check, watchMs);
  };
  timer = setTimeout(check, watchMs);
  return () => {
    isOver = true;
    if (timer !== null) clearTimeout(timer);
  };
}
