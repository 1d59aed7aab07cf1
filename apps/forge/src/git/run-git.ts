import { spawn } from "node:child_process";

/** git said no. `message` holds the end of its stderr. */
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
const outputLimitBytes = 64 * 1024 * 1024;

/**
 * The whole environment of every git process: nothing of the forge's own, which holds the App's secrets, and no
 * settings of the machine or user that would change what git does.
 */
export function gitEnvironment(directory: string): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: directory,
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    // A file named `:(glob)**` is a file.
    GIT_LITERAL_PATHSPECS: "1",
  };
}

/** Runs git on a bare repository and returns its stdout. Throws `GitError` on any other end than success. */
export function runGit(args: readonly string[], options: GitOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", ["--git-dir", options.directory, ...args], {
      cwd: options.directory,
      env: { ...gitEnvironment(options.directory), ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const output: Buffer[] = [];
    let size = 0;
    let complaint = "";
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > outputLimitBytes) child.kill("SIGKILL");
      else output.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk.toString("utf8")).slice(-2000);
    });
    child.once("error", (error) => reject(new GitError(`git ${args[0]} did not start: ${error.message}`)));
    child.once("close", (code) => {
      if (code === 0 && size <= outputLimitBytes) resolve(Buffer.concat(output));
      else reject(new GitError(`git ${args[0]} ended with ${code}: ${complaint.trim()}`));
    });
    // git may end without reading; that is told by its exit status.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}

export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  return (await runGit(args, options)).toString("utf8");
}
