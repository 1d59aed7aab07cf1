import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { credentialFor, gitSettings, notPushed, type Remote } from "./push-directory.ts";

const run = promisify(execFile);

/**
 * Pushes a commit of a git bundle with its history, as the head of a branch. False if the bundle doesn't have it.
 *
 * @throws CommandError with Git's output
 */
export async function pushBundle(
  bundle: string,
  commit: string,
  { url, branch, password }: Pick<Remote, "url" | "branch" | "password">,
): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-push-"));
  const git = (...args: string[]) => {
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      GIT_TERMINAL_PROMPT: "0",
      ...credentialFor(url, password),
    };
    return run("git", [`--git-dir=${directory}`, ...gitSettings, ...args], { env, maxBuffer: 32 * 1024 * 1024 });
  };
  try {
    await git("init", "--quiet", "--bare");
    await git("fetch", "--quiet", bundle, "refs/*:refs/*");
    const has = await git("cat-file", "-e", `${commit}^{commit}`).catch(() => null);
    if (has === null) return false;
    await git("push", "--quiet", url, `${commit}:refs/heads/${branch}`);
    return true;
  } catch (error) {
    throw notPushed(error, url, "The repository");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
