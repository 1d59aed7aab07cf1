import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commitFiles, git, makeRepository } from "@towpath/git/testing";
import { inject } from "vitest";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";

const basic = () => {
  const { name, password } = inject("giteaOwner");
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
};

/** Calls Gitea's API as its first account. @throws Error for a refusal */
export async function gitea<Answer = unknown>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${inject("giteaUrl")}/api/v1/${path}`, {
    method,
    headers: { authorization: basic(), "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}

let tokens = 0;

/** Makes a personal access token with these scopes; its id ends it. */
export async function newToken(...scopes: readonly string[]): Promise<{ readonly id: number; readonly token: string }> {
  tokens += 1;
  const path = `users/${inject("giteaOwner").name}/tokens`;
  const made = await gitea<{ id: number; sha1: string }>("POST", path, { name: `token ${tokens}`, scopes });
  return { id: made.id, token: made.sha1 };
}

export const endToken = (id: number) => gitea("DELETE", `users/${inject("giteaOwner").name}/tokens/${id}`);

type Files = Parameters<typeof commitFiles>[1];

/** A repository at Gitea and a clone of it, as its owner works with both. */
export type Repository = {
  readonly name: string;
  /** As Gitea shows it for cloning. */
  readonly cloneUrl: string;
  readonly sshUrl: string;
  /** The clone. */
  readonly directory: string;
  /** Commits to the checked out branch, and pushes it; resolves to the commit. */
  push(files: Files, message?: string): Promise<string>;
  git(...args: readonly string[]): Promise<string>;
  /** At Gitea's API: `repos/{owner}/{name}{path}`. */
  api<Answer = unknown>(method: string, path: string, body?: unknown): Promise<Answer>;
};

/** Files of a server whose tool `version` answers with this text. */
export const serverFiles = (version: string): Files => ({
  "server.py": plainServer({ version: JSON.stringify(version) }),
  "requirements.txt": plainRequirements,
});

const directories: string[] = [];
/** Removes all clones. */
export const removeClones = async (): Promise<void> => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
};

/** @param files null: the repository stays empty */
export async function newRepository(
  name: string,
  {
    isPrivate = false,
    files = serverFiles("one"),
  }: { readonly isPrivate?: boolean; readonly files?: Files | null } = {},
): Promise<Repository> {
  type Made = { readonly clone_url: string; readonly ssh_url: string; readonly full_name: string };
  const made = await gitea<Made>("POST", "user/repos", { name, private: isPrivate, default_branch: "main" });
  const parent = await mkdtemp(join(tmpdir(), "tw-clone-"));
  directories.push(parent);
  const directory = join(parent, name);
  const run = (...args: readonly string[]) => git(directory, ...args);
  const push = async (changed: Files, message?: string) => {
    const sha = await commitFiles(directory, changed, message);
    await run("push", "--quiet", "origin", "HEAD");
    return sha;
  };
  await makeRepository(directory, files ?? {});
  const url = new URL(made.clone_url);
  const { name: user, password } = inject("giteaOwner");
  [url.username, url.password] = [user, password];
  await run("remote", "add", "origin", url.href);
  if (files !== null) await run("push", "--quiet", "origin", "main");
  return {
    name,
    cloneUrl: made.clone_url,
    sshUrl: made.ssh_url,
    directory,
    push,
    git: run,
    api: (method, path, body) => gitea(method, `repos/${made.full_name}${path}`, body),
  };
}

/** Uploads a file to Gitea's LFS store, as its client does; resolves to the pointer to commit. */
export async function storeLfsFile({ cloneUrl }: Repository, content: string): Promise<string> {
  const oid = createHash("sha256").update(content).digest("hex");
  const size = Buffer.byteLength(content);
  const type = "application/vnd.git-lfs+json";
  const response = await fetch(`${cloneUrl}/info/lfs/objects/batch`, {
    method: "POST",
    headers: { authorization: basic(), accept: type, "content-type": type },
    body: JSON.stringify({ operation: "upload", transfers: ["basic"], objects: [{ oid, size }] }),
  });
  type Upload = { readonly href: string; readonly header?: Readonly<Record<string, string>> };
  const { objects } = (await response.json()) as { readonly objects: { readonly actions: { upload: Upload } }[] };
  const upload = objects[0]?.actions.upload;
  if (!upload) throw new Error("Gitea takes no file of LFS.");
  const { "Transfer-Encoding": _, ...given } = upload.header ?? {};
  const headers = { "content-type": "application/octet-stream", ...given };
  const stored = await fetch(upload.href, { method: "PUT", headers, body: content });
  if (!stored.ok) throw new Error(`Gitea doesn't store a file of LFS: ${stored.status}`);
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;
}
