import { expect, inject } from "vitest";
import { modernCall } from "../instance/modern-call.ts";
import { operatorToken } from "../instance/operator.ts";
import { towpathWith } from "../instance/towpath-process.ts";

/** Runs `towpath deploy URL` as a user of the terminal. `token`: of a private repository. */
export function deploy(url: string, name: string, token?: string) {
  const dataDirectory = inject("dataDirectory");
  const args = ["deploy", url, "--name", name, "--public", "--data-dir", dataDirectory];
  return token === undefined
    ? towpathWith({}, ...args)
    : towpathWith({ env: { GITEA_TOKEN: token } }, ...args, "--token-env", "GITEA_TOKEN");
}

/** Deploys it, and fails unless it is live. */
export async function deployLive(url: string, name: string, token?: string): Promise<void> {
  const { status, stdout, stderr } = await deploy(url, name, token);
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("Live: ")]);
}

/** Calls the REST API as the operator; resolves to status and answer. */
async function rest<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const token = await operatorToken({ dataDirectory: inject("dataDirectory") });
  const response = await fetch(`${inject("url")}/api/v1/projects/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

type Source = {
  readonly url: string;
  readonly branches: readonly string[];
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly webhook: { readonly url: string; readonly receivedAt: string | null };
  readonly status: { readonly postedAt: string | null; readonly problem: string | null } | null;
};
type Build = { readonly commitSha: string; readonly status: string; readonly trigger: string };

/** A server's source, as its settings show it. */
export const sourceOf = async (name: string) => (await rest<{ source: Source }>("GET", `${name}/source`)).source;

/** Changes it. */
export const changeSource = (name: string, changes: unknown) => rest("PATCH", `${name}/source`, changes);

/** Checks the repository now, like "Check now". */
export const checkNow = (name: string) => rest<Source>("POST", `${name}/source/check`);

export const makeWebhookSecret = async (name: string) =>
  (await rest<{ secret: string }>("POST", `${name}/source/webhook-secret`)).secret;

/** Builds of a branch, newest first. */
export const buildsOf = async (name: string, branch = "main") =>
  (await rest<{ data: Build[] }>("GET", `${name}/builds?branch=${encodeURIComponent(branch)}`)).data;

/** The answer of the server's tool `version`; null without one. */
export async function versionOf(name: string): Promise<string | null> {
  const url = `${inject("serversUrl")}/${name}/mcp`;
  const response = await fetch(url, modernCall("version", {}, "Gitea's tests"));
  const text = await response.text();
  return response.status === 200 ? (/"result":\s*"([^"]*)"/.exec(text)?.[1] ?? null) : null;
}

/** Waits until the server answers with this version. */
export const expectVersion = (name: string, version: string) =>
  expect.poll(() => versionOf(name), { timeout: 60_000, interval: 200 }).toBe(version);
