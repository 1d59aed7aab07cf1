import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TowpathInstance } from "./towpath-process.ts";

/** The instance that an operator works with over REST and Git. */
type Instance = Pick<TowpathInstance, "url" | "dataDirectory">;

export const operatorToken = async ({ dataDirectory }: Pick<Instance, "dataDirectory">): Promise<string> =>
  (await readFile(join(dataDirectory, "operator-token"), "utf8")).trim();

/** Posts to `/api/v1/{path}`. @throws Error for a refusal */
export async function operatorPost(instance: Instance, path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${instance.url}/api/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${await operatorToken(instance)}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Where Git pushes to the repository of this instance that a server is built from, with the operator's token. */
export async function pushUrlOf(instance: Instance, name: string): Promise<string> {
  const token = await operatorToken(instance);
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${instance.url}/api/v1/projects/${name}/source`, { headers });
  const { source } = (await response.json()) as { readonly source: { readonly url: string } };
  return source.url.replace("://", `://operator:${token}@`);
}

type Branch = { readonly name: string; readonly branch: string; readonly message: string };

/** Pushes a branch with an empty commit to the repository of a server that the terminal deployed. Returns the commit's SHA. */
export async function pushBranch(instance: Instance, { name, branch, message }: Branch): Promise<string> {
  const clone = await mkdtemp(join(tmpdir(), "towpath-clone-"));
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@localhost"];
  const git = (...args: string[]) => promisify(execFile)("git", ["-C", clone, ...author, ...args]);
  try {
    await git("clone", "--quiet", await pushUrlOf(instance, name), ".");
    await git("checkout", "--quiet", "-b", branch);
    await git("commit", "--quiet", "--allow-empty", "--message", message);
    await git("push", "--quiet", "origin", branch);
    return (await git("rev-parse", "HEAD")).stdout.trim();
  } finally {
    await rm(clone, { recursive: true });
  }
}
