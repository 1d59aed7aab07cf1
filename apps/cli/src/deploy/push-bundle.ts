import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CommandError } from "../terminal/terminal.ts";
import { credentialFor, gitSettings, notPushed, type Remote } from "./push-directory.ts";

const run = promisify(execFile);

/** Pushes the commit with its history, as the head of a branch. @throws CommandError with Git's output */
type Push = (remote: Pick<Remote, "url" | "branch" | "password">) => Promise<void>;

/**
 * Reads a git bundle, and passes on how to push a commit of it; null: the bundle doesn't have the commit.
 *
 * @throws CommandError when the bundle can't be read, before `use` is called
 */
export async function withBundle<Result>(
  bundle: string,
  commit: string,
  use: (push: Push | null) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-push-"));
  const git = (args: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, GIT_TERMINAL_PROMPT: "0", ...more };
    return run("git", [`--git-dir=${directory}`, ...gitSettings, ...args], { env, maxBuffer: 32 * 1024 * 1024 });
  };
  const read = async () => {
    await git(["init", "--quiet", "--bare"]);
    await git(["fetch", "--quiet", bundle, "refs/*:refs/*"]).catch((error: { readonly stderr?: string }) => {
      throw new CommandError(
        `The history in ${bundle} can't be read. Export the server again. Nothing was made.\n${error.stderr?.trim() ?? error}`,
      );
    });
    return (await git(["cat-file", "-e", `${commit}^{commit}`]).catch(() => null)) !== null;
  };
  const push: Push = async ({ url, branch, password }) => {
    await git(["push", "--quiet", url, `${commit}:refs/heads/${branch}`], credentialFor(url, password)).catch(
      (error) => {
        throw notPushed(error, url, "The repository");
      },
    );
  };
  try {
    return await use((await read()) ? push : null);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
