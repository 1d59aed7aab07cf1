import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { branchAtGitHub } from "./branch-at-github.ts";
import { createGitHub } from "./client.ts";

type Answer = readonly [status: number, body: unknown];

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const account = { id: 1, login: "acme" };
const repository = {
  id: 7,
  name: "echo",
  full_name: "acme/echo",
  private: false,
  default_branch: "main",
  html_url: "http://localhost/acme/echo",
  owner: account,
};
const commit = {
  sha: "a".repeat(40),
  url: "u",
  commit: { message: "Fix", author: { name: "Ada", email: "a", date: "d" }, committer: null },
};
const pull = (number: number, state: string, repo: number) => ({
  number,
  state,
  html_url: `http://localhost/acme/echo/pull/${number}`,
  head: { ref: "fix", sha: commit.sha, repo: { id: repo, full_name: "someone/echo" } },
  base: { repo: { id: 7 } },
  title: "Better",
  user: { login: "mallory" },
});
const token = [201, { token: "t", expires_at: "2999-01-01T00:00:00Z" }] as const;
const noSuch = [404, { message: "Not Found" }] as const;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Asks a GitHub that answers by method and path about the branch `fix`; other paths are not found. */
async function ask(
  answers: Record<string, Answer | (() => Answer)>,
  installationIds = [11],
  since: string | null = null,
  branch = "fix",
) {
  server = createServer((request, response) => {
    const path = (request.url ?? "").split("?", 1)[0];
    const found = answers[`${request.method} ${path}`] ?? noSuch;
    const [status, body] = typeof found === "function" ? found() : found;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const github = createGitHub({
    appId: "1",
    appSlug: "app",
    clientId: "id",
    clientSecret: "s",
    webhookSecret: "w",
    url,
    apiUrl: url,
    privateKey: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
  });
  return branchAtGitHub(github, { installationIds, repositoryId: 7, branch, since });
}

const tokens = { "POST /app/installations/11/access_tokens": token };
const seen = { ...tokens, "GET /repositories/7": [200, repository] as const };
const head = { "GET /repos/acme/echo/branches/fix": [200, { name: "fix", commit }] as const };

test("BLD-7 the branch's head and its pull requests, those of forks left out", async () => {
  const pulls = [200, [pull(3, "open", 7), pull(4, "closed", 8)]] as const;
  expect(await ask({ ...seen, ...head, "GET /repos/acme/echo/pulls": pulls })).toEqual({
    kind: "seen",
    github: { installationId: 11, fullName: "acme/echo", private: false },
    defaultBranch: "main",
    head: { sha: commit.sha, message: "Fix", author: "Ada" },
    changedPaths: null,
    pullRequests: [{ number: 3, url: "http://localhost/acme/echo/pull/3", isOpen: true, headSha: commit.sha }],
  });
});

test("BLD-9 a pull request from a fork is recognized by both repositories' numbers; a closed, foreign or own one has no head", async () => {
  const about = (body: unknown) =>
    ask(
      {
        ...seen,
        "GET /repos/acme/echo/pulls/3": [200, body] as const,
        [`GET /repos/acme/echo/commits/${commit.sha}`]: [200, commit],
      },
      [11],
      null,
      "pull:3",
    );
  const fork = { repositoryId: 8, repositoryFullName: "someone/echo", headBranch: "fix", author: "mallory" };
  expect(await about(pull(3, "open", 8))).toMatchObject({
    head: { sha: commit.sha, message: "Fix" },
    fork: { ...fork, title: "Better" },
    pullRequests: [{ number: 3, isOpen: true }],
  });
  const deleted = { ...pull(3, "open", 8), head: { ref: "fix", sha: commit.sha, repo: null }, user: null };
  expect(await about(deleted)).toMatchObject({
    head: { sha: commit.sha },
    fork: { repositoryId: null, author: "ghost" },
  });
  expect(await about(pull(3, "closed", 8))).toMatchObject({ head: null, fork: null });
  // A branch of the repository itself, and a pull request to another repository.
  expect(await about(pull(3, "open", 7))).toMatchObject({ head: null, fork: null });
  expect(await about({ ...pull(3, "open", 8), base: { repo: { id: 9 } } })).toMatchObject({ head: null, fork: null });
  expect(await ask(seen, [11], null, "pull:3")).toMatchObject({ kind: "seen", head: null });
});

test("BLD-7 an App that may not read pull requests goes by branches alone", async () => {
  const answer = await ask({ ...seen, ...head, "GET /repos/acme/echo/pulls": [403, { message: "no" }] });
  expect(answer).toMatchObject({ kind: "seen", pullRequests: [] });
});

test("BLD-7 a branch is gone when the repository is still there, and when it answers under another name", async () => {
  expect(await ask(seen)).toMatchObject({ kind: "seen", head: null });
  const renamed = { "GET /repos/acme/echo/branches/fix": [200, { name: "fixed", commit }] as const };
  expect(await ask({ ...seen, ...renamed })).toMatchObject({ kind: "seen", head: null });
});

test("BLD-7 a repository that is deleted or renamed between two requests says nothing about the branch", async () => {
  for (const second of [noSuch, [200, { ...repository, full_name: "acme/other" }] as const]) {
    let questions = 0;
    const answers = {
      ...tokens,
      "GET /repositories/7": () => (++questions === 1 ? ([200, repository] as const) : second),
    };
    await expect(ask(answers)).rejects.toThrow();
  }
});

test("GH-1 no access through suspended or removed installations; the next one is tried", async () => {
  const suspended = { "POST /app/installations/11/access_tokens": [403, { message: "suspended" }] as const };
  expect(await ask(suspended)).toEqual({ kind: "no-access" });
  expect(await ask({})).toEqual({ kind: "no-access" });
  const second = { ...seen, ...suspended, "POST /app/installations/12/access_tokens": token };
  expect(await ask({ ...second, ...head }, [11, 12])).toMatchObject({ kind: "seen", github: { installationId: 12 } });
});

test("BLD-12 a GitHub that is unreachable, or limits requests, is asked again later", async () => {
  await expect(ask({ ...tokens, "GET /repositories/7": [503, {}] })).rejects.toMatchObject({ code: "unavailable" });
  await expect(ask({ ...tokens, "GET /repositories/7": [429, {}] })).rejects.toMatchObject({ code: "rate_limited" });
});

test("BLD-15 which files a push changes, also moved and removed ones; unknown where GitHub can't say", async () => {
  const since = "b".repeat(40);
  const tree = (files: Record<string, string>, truncated = false) => {
    const blobs = Object.entries(files).map(([path, sha]) => ({ path, mode: "100644", type: "blob", sha, size: 1 }));
    return [200, { tree: [{ path: "docs", mode: "040000", type: "tree", sha: "t" }, ...blobs], truncated }] as const;
  };
  const before = { [`GET /repos/acme/echo/git/trees/${since}`]: tree({ "a.py": "1", "b.py": "2", "old.md": "3" }) };
  const after = `GET /repos/acme/echo/git/trees/${commit.sha}`;
  const changed = async (answers: Record<string, Answer>) => {
    const answer = await ask({ ...seen, ...head, "GET /repos/acme/echo/pulls": [200, []], ...answers }, [11], since);
    return answer.kind === "seen" && answer.changedPaths;
  };
  const now = { "a.py": "1", "b.py": "4", "docs/new.md": "3" };
  expect(await changed({ ...before, [after]: tree(now) })).toEqual(["old.md", "b.py", "docs/new.md"]);
  expect(await changed({ ...before, [after]: tree(now, true) })).toBeNull();
  expect(await changed({ [after]: tree(now) })).toBeNull();
});
