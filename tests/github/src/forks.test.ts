import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseWebhook } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  Browser,
  git,
  locationOf,
  type Received,
  startTestForge,
  type TestForge,
  userToken,
} from "./testing/test-forge.ts";

let forge: TestForge;
let work: string;
let installationId: number;
let repositoryId: number;
let ownersPushUrl: string;
/** Of a stranger, as by the App for them. */
let token: string;

beforeAll(async () => {
  forge = await startTestForge();
  work = await mkdtemp(join(tmpdir(), "towpath-fork-"));
  for (const login of ["ada", "mallory"]) await forge.admin.ensureAccount({ login });
  ({ installationId } = await forge.admin.ensureInstallation({ login: "ada" }));
  const made = await forge.admin.ensureRepository({ owner: "ada", name: "tools" });
  ownersPushUrl = made.pushUrl;
  repositoryId = made.repository.id;
  await git(work, "init", "-q", "-b", "main", ".");
  await commit("First");
  await git(work, "push", "-q", ownersPushUrl, "main");
  token = await userToken(forge, "mallory");
});
afterAll(async () => {
  await forge.close();
  await rm(work, { recursive: true, force: true });
});

async function commit(message: string): Promise<string> {
  await git(work, "commit", "-q", "--allow-empty", "-m", message);
  return (await git(work, "rev-parse", "HEAD")).trim();
}

async function call(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${forge.url}/api/v3/repos/${path}`, { method, headers, body: JSON.stringify(body) });
  const text = await answer.text();
  return { status: answer.status, body: (text ? JSON.parse(text) : null) as Record<string, unknown> };
}

const forkUrl = () => forge.url.replace("://", `://mallory:${token}@`).concat("/mallory/tools.git");
const address = () => ({ installationId, owner: "ada", name: "tools" });
const told = (action: string, sha: string) => (received: Received) => {
  if (received.event !== "pull_request") return false;
  const event = parseWebhook(received.event, received.body);
  return (
    event.event === "pull_request" && event.payload.action === action && event.payload.pull_request.head.sha === sha
  );
};

test("GH-3 BLD-9 a fork has its parent's branches, and its pull request says what GitHub's does: other repository, same base", async () => {
  const forked = await call("POST", "ada/tools/forks");
  expect(forked).toMatchObject({
    status: 202,
    body: { full_name: "mallory/tools", fork: true, owner: { login: "mallory" }, parent: { full_name: "ada/tools" } },
  });
  expect((await call("POST", "ada/tools/forks")).body.id).toBe(forked.body.id);
  const heads = await git(work, "ls-remote", forkUrl(), "refs/heads/*");
  expect(heads).toBe(await git(work, "ls-remote", ownersPushUrl, "refs/heads/*"));

  const sha = await commit("Better");
  // Named like the branch of production.
  await git(work, "push", "-q", forkUrl(), "HEAD:main");
  const input = { title: "Better", head: "mallory:main", base: "main" };
  const opened = await call("POST", "ada/tools/pulls", input);
  expect(opened).toMatchObject({
    status: 201,
    body: {
      number: 1,
      user: { login: "mallory" },
      author_association: "NONE",
      maintainer_can_modify: false,
      head: { label: "mallory:main", ref: "main", sha, repo: { id: forked.body.id, fork: true } },
      base: { label: "ada:main", ref: "main", repo: { id: repositoryId, fork: false } },
    },
  });
  expect(await call("POST", "ada/tools/pulls", input)).toMatchObject({ status: 422 });
  expect(await call("POST", "ada/tools/pulls", { ...input, head: "nobody:main" })).toMatchObject({ status: 403 });
  // Who may not push to the repository opens none between its own branches.
  expect(await call("POST", "ada/tools/pulls", { ...input, head: "ada:main" })).toMatchObject({ status: 403 });
  const { body } = await forge.hooks.waitFor(told("opened", sha));
  expect(JSON.parse(body.toString())).toMatchObject({
    number: 1,
    repository: { id: repositoryId },
    installation: { id: installationId },
    sender: { login: "mallory" },
    pull_request: { head: { repo: { full_name: "mallory/tools", fork: true } } },
  });

  // The App, which is on the parent only, reads the commit there.
  expect(await forge.gitHub.pullRequest(address(), 1)).toMatchObject({ head: { sha, repo: { id: forked.body.id } } });
  expect(await forge.gitHub.commit(address(), sha)).toMatchObject({ message: "Better" });
  expect(await forge.gitHub.pullRequestsFrom(address(), "main")).toEqual([]);
  expect((await forge.gitHub.branch(address(), "main")).commit.sha).not.toBe(sha);
});

test("GH-3 BLD-9 pushes to the fork, forced ones too, reach the pull request; nobody pushes to its ref; no push of the fork is told", async () => {
  const before = await commit("Next");
  await git(work, "push", "-q", forkUrl(), "HEAD:main");
  await forge.hooks.waitFor(told("synchronize", before));
  await git(work, "commit", "-q", "--allow-empty", "--amend", "-m", "Rewritten");
  const sha = (await git(work, "rev-parse", "HEAD")).trim();
  await git(work, "push", "-q", "-f", forkUrl(), "HEAD:main");
  await forge.hooks.waitFor(told("synchronize", sha));
  expect(await git(work, "ls-remote", ownersPushUrl, "refs/pull/*")).toBe(`${sha}\trefs/pull/1/head\n`);
  await expect(git(work, "push", "-q", "-f", ownersPushUrl, "HEAD~1:refs/pull/1/head")).rejects.toThrow("hidden ref");
  const pushes = forge.hooks.received.filter(({ event }) => event === "push");
  expect(pushes.map(({ body }) => JSON.parse(body.toString()).repository.full_name)).toEqual(["ada/tools"]);
});

test("GH-3 who opened a pull request closes and reopens it, with the newest commit of the fork by then", async () => {
  const closed = (await git(work, "rev-parse", "HEAD")).trim();
  expect(await call("PATCH", "ada/tools/pulls/1", { state: "closed" })).toMatchObject({ body: { state: "closed" } });
  await forge.hooks.waitFor(told("closed", closed));
  const sha = await commit("While closed");
  await git(work, "push", "-q", forkUrl(), "HEAD:main");
  expect(await call("PATCH", "ada/tools/pulls/1", { state: "open" })).toMatchObject({ body: { head: { sha } } });
  await forge.hooks.waitFor(told("reopened", sha));
  expect(await forge.gitHub.commit(address(), sha)).toMatchObject({ message: "While closed" });
});

test("GH-3 the pages: a fork by a button, a pull request from it, and its label", async () => {
  await forge.admin.ensureAccount({ login: "eve" });
  const browser = new Browser(forge.url);
  await browser.submit("/login", { existing: "eve" });
  expect(await (await browser.get("/ada/tools")).text()).toContain('action="/ada/tools/forks"');
  expect(locationOf(await browser.submit("/ada/tools/forks", {})).pathname).toBe("/eve/tools");
  expect(await (await browser.get("/eve/tools")).text()).toContain('Fork of <a href="/ada/tools">');
  const page = await (await browser.get("/ada/tools")).text();
  expect(page).toContain('<option value="eve:main"');
  expect(page).not.toContain('action="/ada/tools/forks"');
  const opened = await browser.submit("/ada/tools/pulls", { title: "Mine", head: "eve:main", base: "main" });
  expect(locationOf(opened).pathname).toBe("/ada/tools/pull/2");
  const pull = await (await browser.get("/ada/tools/pull/2")).text();
  expect(pull).toContain("eve:main → main");
  expect((await browser.submit("/ada/tools/pull/1", { state: "closed" })).status).toBe(404);
  expect((await browser.submit("/ada/tools/pull/2", { state: "closed" })).status).toBe(303);
});

test("GH-3 a deleted fork closes its pull request, whose head has no repository then; the commits stay with the parent", async () => {
  const sha = (await git(work, "rev-parse", "HEAD")).trim();
  expect(await call("DELETE", "ada/tools")).toMatchObject({ status: 403 });
  expect(await call("DELETE", "mallory/tools")).toMatchObject({ status: 204 });
  const closed = await forge.hooks.waitFor(
    (received) => told("closed", sha)(received) && received.body.includes('"repo":null'),
  );
  expect(parseWebhook("pull_request", closed.body)).toMatchObject({
    payload: { pull_request: { state: "closed", head: { sha, repo: null } } },
  });
  expect(await call("PATCH", "ada/tools/pulls/1", { state: "open" })).toMatchObject({ status: 422 });
  expect(await forge.gitHub.pullRequest(address(), 1)).toMatchObject({ state: "closed", head: { repo: null } });
  expect(await forge.gitHub.commit(address(), sha)).toMatchObject({ sha });
  await forge.restart();
  expect((await fetch(`${forge.url}/mallory/tools`)).status).toBe(404);
});
