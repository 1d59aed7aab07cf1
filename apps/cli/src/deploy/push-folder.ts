import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Refusal } from "../terminal/terminal.ts";

const run = promisify(execFile);

/** Never part of a deployment, whatever the folder's own .gitignore says. */
const neverPushed = [".venv/", "venv/", "__pycache__/", "*.pyc", "node_modules/", ".env", ".DS_Store"];

/** The person's own Git settings hold, but for those that would change the content, ask for a key or run programs. */
const settings = ["core.autocrlf=false", "commit.gpgSign=false", "core.hooksPath=/dev/null"].flatMap((setting) => [
  "-c",
  setting,
]);

/** Everybody on the machine can read a process's arguments: the credential goes by the environment. */
function withoutCredential(address: string): { url: string; environment: Record<string, string> } {
  const url = new URL(address);
  const credential = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = "";
  url.password = "";
  if (credential === ":") return { url: url.href, environment: {} };
  return {
    url: url.href,
    environment: {
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: `http.${url.origin}/.extraHeader`,
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(credential).toString("base64")}`,
    },
  };
}

export type Pushed = { readonly commitSha: string; readonly changed: boolean };

/**
 * Commits the folder as it stands on top of what the repository's branch holds, and pushes it. The folder itself is
 * not touched: Git's own files live in a temporary folder. Ignored files stay behind.
 * @throws Refusal with Git's words.
 */
export async function pushFolder(
  folder: string,
  remote: { readonly url: string; readonly branch: string },
): Promise<Pushed> {
  const { url, environment } = withoutCredential(remote.url);
  const gitDirectory = await mkdtemp(join(tmpdir(), "towpath-push-"));
  const git = async (...args: string[]) => {
    const identity = { GIT_AUTHOR_NAME: "Towpath CLI", GIT_AUTHOR_EMAIL: "cli@towpath.localhost" };
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...identity,
      GIT_COMMITTER_NAME: identity.GIT_AUTHOR_NAME,
      GIT_COMMITTER_EMAIL: identity.GIT_AUTHOR_EMAIL,
      GIT_TERMINAL_PROMPT: "0",
      ...environment,
    };
    const full = [`--git-dir=${gitDirectory}`, `--work-tree=${folder}`, ...settings, ...args];
    return (await run("git", full, { env, cwd: folder, maxBuffer: 32 * 1024 * 1024 })).stdout.trim();
  };
  try {
    await git("init", "--quiet", "--initial-branch", remote.branch);
    await writeFile(join(gitDirectory, "info", "exclude"), `${neverPushed.join("\n")}\n`);
    const heads = await git("ls-remote", "--heads", url, `refs/heads/${remote.branch}`);
    if (heads !== "") {
      await git("fetch", "--quiet", url, `refs/heads/${remote.branch}`);
      await git("update-ref", "HEAD", "FETCH_HEAD");
    }
    await git("add", "--all", ".");
    const changed = heads === "" || (await git("status", "--porcelain", "--untracked-files=no")) !== "";
    if (changed) {
      await git("commit", "--quiet", "--allow-empty", "--no-verify", "-m", "Deploy from the command line");
      await git("push", "--quiet", url, `HEAD:refs/heads/${remote.branch}`);
    }
    return { commitSha: await git("rev-parse", "HEAD"), changed };
  } catch (error) {
    const words = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
    throw new Refusal(`The folder could not be pushed to the local forge:\n${words.replaceAll(url, "the forge")}`);
  } finally {
    await rm(gitDirectory, { recursive: true, force: true });
  }
}
