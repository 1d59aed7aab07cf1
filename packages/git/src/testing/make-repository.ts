import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gitEnvironment } from "../git-environment.ts";

const execute = promisify(execFile);
const who = { GIT_AUTHOR_NAME: "Ada Lock", GIT_AUTHOR_EMAIL: "ada@example.test" };
const committer = { GIT_COMMITTER_NAME: "Ada Lock", GIT_COMMITTER_EMAIL: "ada@example.test" };

/** Runs git in a directory, as a person named Ada Lock; resolves to its stdout. */
export async function git(directory: string, ...args: readonly string[]): Promise<string> {
  const env = { ...gitEnvironment(directory), ...who, ...committer };
  const { stdout } = await execute("git", args, { cwd: directory, env, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** Contents by path; null removes one. */
type Files = Readonly<Record<string, string | Uint8Array | null>>;

/** Commits files to the checked out branch of a repository; resolves to the commit's id. */
export async function commitFiles(directory: string, files: Files, message = "Change"): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(directory, path);
    if (content === null) await rm(file);
    else {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
  }
  await git(directory, "add", "--all");
  await git(directory, "commit", "--quiet", "--allow-empty", "--message", message);
  return git(directory, "rev-parse", "HEAD");
}

/** Makes a repository with one commit, in a directory that doesn't exist yet; resolves to the commit's id. */
export async function makeRepository(directory: string, files: Files, branch = "main"): Promise<string> {
  await mkdir(directory, { recursive: true });
  await git(directory, "init", "--quiet", "--template=", `--initial-branch=${branch}`);
  return commitFiles(directory, files, "First");
}
