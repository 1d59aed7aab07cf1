import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { leftOutLine } from "@towpath/core/sources/repository/left-out/schema";
import { CommandError } from "../terminal/terminal.ts";
import { directoryFiles } from "./directory-files.ts";

const run = promisify(execFile);

const maxStillSeconds = 120;

/** Overrides the person's Git settings that would change the content, ask for a key or run programs. */
export const gitSettings = [
  "core.autocrlf=false",
  "commit.gpgSign=false",
  "core.hooksPath=/dev/null",
  // The repository is temporary, and the push compresses anyway.
  "core.looseCompression=0",
  // Instances accept a push in one request of a known length, up to this one.
  `http.postBuffer=${64 * 1024 * 1024}`,
  // Large directories take long, but a connection without progress is broken.
  "http.lowSpeedLimit=1",
  `http.lowSpeedTime=${maxStillSeconds}`,
].flatMap((setting) => ["-c", setting]);

/** All users of the machine can read a process's arguments, so the credential is passed in the environment. */
export const credentialFor = (url: string, password: string): Record<string, string> => ({
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: `http.${new URL(url).origin}/.extraHeader`,
  GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`towpath:${password}`).toString("base64")}`,
});

const author = { name: "Towpath CLI", email: "cli@towpath.localhost" };

export type Remote = {
  readonly url: string;
  readonly branch: string;
  /** The branch that a new branch starts from. */
  readonly base?: string;
  /** Of the commit. */
  readonly message?: string | undefined;
  /** An API key, or the operator's token. */
  readonly password: string;
  /** Push even if the branch's newest commit is somebody else's. */
  readonly overwrite: boolean;
};

/** `files`: pushed paths; `leftOut`: see `directoryFiles`. */
export type Pushed = {
  readonly commitSha: string;
  readonly changed: boolean;
  readonly files: readonly string[];
  readonly leftOut: readonly string[];
};

/**
 * Commits the directory's current content onto the repository's branch, and pushes it. The directory itself is not
 * changed: Git's own files are in a temporary directory. For the pushed files see `directoryFiles`.
 * @throws CommandError with Git's output, or when it would undo somebody else's push.
 */
export async function pushDirectory(directory: string, remote: Remote): Promise<Pushed> {
  const { url } = remote;
  const gitDirectory = await mkdtemp(join(tmpdir(), "towpath-push-"));
  const gitWith = async (input: string | null, ...args: string[]) => {
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_COMMITTER_NAME: author.name,
      GIT_COMMITTER_EMAIL: author.email,
      GIT_TERMINAL_PROMPT: "0",
      ...credentialFor(url, remote.password),
    };
    const full = [`--git-dir=${gitDirectory}`, `--work-tree=${directory}`, ...gitSettings, ...args];
    const running = run("git", full, { env, cwd: directory, maxBuffer: 32 * 1024 * 1024 });
    if (input !== null) running.child.stdin?.on("error", () => {}).end(input);
    return (await running).stdout.trim();
  };
  const git = (...args: string[]) => gitWith(null, ...args);
  try {
    await git("init", "--quiet", "--initial-branch", remote.branch);
    const isThere = async (branch: string) => (await git("ls-remote", "--heads", url, `refs/heads/${branch}`)) !== "";
    const exists = await isThere(remote.branch);
    const from = exists
      ? remote.branch
      : remote.base !== undefined && (await isThere(remote.base))
        ? remote.base
        : null;
    if (from !== null) {
      await git("fetch", "--quiet", url, `refs/heads/${from}`);
      await git("update-ref", "HEAD", "FETCH_HEAD");
    }
    const { paths: files, leftOut } = await directoryFiles(directory);
    if (files.length === 0) {
      const what = leftOutLine(leftOut) ?? "It has no files.";
      throw new CommandError(`There is nothing to deploy in ${directory}. ${what}`);
    }
    await gitWith(files.join("\0"), "update-index", "--add", "-z", "--stdin");
    const changed = !exists || (await git("write-tree")) !== (await git("rev-parse", "HEAD^{tree}"));
    if (changed) {
      if (exists && !remote.overwrite) await requireOwnHead(git);
      await git(
        "commit",
        "--quiet",
        "--allow-empty",
        "--no-verify",
        "-m",
        remote.message ?? "Deploy from the command line",
      );
      await git("push", "--quiet", url, `HEAD:refs/heads/${remote.branch}`);
    }
    return { commitSha: await git("rev-parse", "HEAD"), changed, files, leftOut };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw notPushed(error, url, "The directory");
  } finally {
    await rm(gitDirectory, { recursive: true, force: true });
  }
}

/** The error when git fails, with its output. */
export function notPushed(error: unknown, url: string, what: string): CommandError {
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
  const lines = [stderr.replaceAll(url, "the repository"), ...hints(stderr)];
  return new CommandError(`${what} could not be pushed to the instance:\n${lines.join("\n")}`);
}

/** What to do about Git's output. */
const hints = (stderr: string): readonly string[] => [
  ...(/Operation too slow/.test(stderr)
    ? [`Nothing moved for ${maxStillSeconds} seconds. The instance's output may say why; or try again.`]
    : []),
  ...(/^remote: .*No space left on device|error: 507\b|HTTP 507\b/m.test(stderr)
    ? ["The disk of the instance is full. Ask its operator to free disk space, then deploy again."]
    : []),
];

/** People can push to the terminal's repository too, and their work is not in this directory. */
async function requireOwnHead(git: (...args: string[]) => Promise<string>): Promise<void> {
  const [email, shown] = (await git("log", "-1", '--format=%ae%n%h "%s" by %an')).split("\n");
  if (email === author.email) return;
  throw new CommandError(
    `The newest commit of this server is not from this command: ${shown}. Deploying the directory as it is would undo it. ` +
      "Bring the change into the directory first; then, or to undo it on purpose, add --overwrite.",
  );
}
