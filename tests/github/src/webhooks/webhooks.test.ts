import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PushEvent, parseWebhook, verifyWebhook } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAppJwt, git, type Received, startTestForge, type TestForge } from "../testing/test-forge.ts";

let forge: TestForge;
let work: string;
let pushUrl: string;
let installationId: number;

beforeAll(async () => {
  forge = await startTestForge();
  work = await mkdtemp(join(tmpdir(), "towpath-work-"));
  await forge.admin.ensureAccount({ login: "ada", email: "ada@example.com" });
  ({ installationId } = await forge.admin.ensureInstallation({ login: "ada" }));
  ({ pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "tools" }));
  await git(work, "init", "-q", "-b", "main", ".");
  await commit("First");
  await git(work, "remote", "add", "towpath", pushUrl);
  await git(work, "push", "-q", "towpath", "main");
});

afterAll(async () => {
  await forge.close();
  await rm(work, { recursive: true, force: true });
});

async function commit(message: string): Promise<string> {
  await writeFile(join(work, "server.py"), `# ${message}\n`);
  await git(work, "add", ".");
  await git(work, "commit", "-q", "-m", message);
  return (await git(work, "rev-parse", "HEAD")).trim();
}

function pushOf(received: Received): PushEvent {
  const event = parseWebhook(received.event, received.body);
  if (event.event !== "push") throw new Error(`got ${event.event}`);
  return event.payload;
}

const isPushOf = (sha: string) => (received: Received, payload: Record<string, unknown>) =>
  received.event === "push" && payload.after === sha;

test("BLD-12 a push sends one signed webhook with GitHub's payload", async () => {
  const before = (await git(work, "rev-parse", "HEAD")).trim();
  const middle = await commit("Second");
  const sha = await commit("Third");
  await git(work, "push", "-q", "towpath", "main");
  const received = await forge.hooks.waitFor(isPushOf(sha));
  const signature = String(received.headers["x-hub-signature-256"]);
  expect(verifyWebhook(forge.gitHubConfig.webhookSecret, received.body, signature)).toBe(true);
  expect(verifyWebhook("another secret", received.body, signature)).toBe(false);
  expect(received.delivery).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect(pushOf(received)).toMatchObject({
    ref: "refs/heads/main",
    branch: "main",
    before,
    after: sha,
    created: false,
    deleted: false,
    forced: false,
    commits: [{ id: middle }, { id: sha }],
    head_commit: { id: sha, message: "Third", author: { name: "Ada Lock", email: "ada@example.com" } },
    repository: { full_name: "ada/tools", default_branch: "main", private: false },
    installation: { id: installationId },
    sender: { login: "ada" },
  });
  expect(forge.hooks.received.filter((other) => other.event === "push" && pushOf(other).after === sha)).toHaveLength(1);
});

test("GH-1 new and deleted branches send webhooks: create, push, delete", async () => {
  const sha = (await git(work, "rev-parse", "HEAD")).trim();
  await git(work, "push", "-q", "towpath", "main:refs/heads/topic/x");
  const created = await forge.hooks.waitFor((_, payload) => payload.ref === "refs/heads/topic/x");
  expect(pushOf(created)).toMatchObject({ branch: "topic/x", created: true, after: sha, head_commit: { id: sha } });
  await forge.hooks.waitFor(({ event }, payload) => event === "create" && payload.ref === "topic/x");
  await git(work, "push", "-q", "towpath", ":refs/heads/topic/x");
  const deleted = await forge.hooks.waitFor(({ event }, payload) => event === "delete" && payload.ref === "topic/x");
  expect(parseWebhook("delete", deleted.body)).toMatchObject({ payload: { ref: "topic/x", ref_type: "branch" } });
  const push = await forge.hooks.waitFor(({ event }, payload) => event === "push" && payload.deleted === true);
  expect(pushOf(push)).toMatchObject({ branch: "topic/x", deleted: true, head_commit: null });
});

test("GH-1 a forced push is marked so", async () => {
  await git(work, "commit", "-q", "--amend", "-m", "Rewritten");
  await git(work, "push", "-q", "-f", "towpath", "main");
  const sha = (await git(work, "rev-parse", "HEAD")).trim();
  expect(pushOf(await forge.hooks.waitFor(isPushOf(sha)))).toMatchObject({
    forced: true,
    head_commit: { message: "Rewritten" },
  });
});

test("BLD-12 a receiver that is down gets the webhook later, with the same delivery id", async () => {
  forge.hooks.answers.push(503, 500);
  const sha = await commit("While down");
  await git(work, "push", "-q", "towpath", "main");
  const isMine = isPushOf(sha);
  await expect
    .poll(() => forge.hooks.received.filter((r) => isMine(r, JSON.parse(r.body.toString("utf8")))).length, {
      timeout: 10_000,
    })
    .toBe(3);
  const mine = forge.hooks.received.filter((r) => isMine(r, JSON.parse(r.body.toString("utf8"))));
  expect(new Set(mine.map(({ delivery }) => delivery)).size).toBe(1);
});

test("BLD-12 a refused webhook is not repeated, but can be redelivered under its id", async () => {
  forge.hooks.answers.push(401);
  const sha = await commit("Refused");
  await git(work, "push", "-q", "towpath", "main");
  const first = await forge.hooks.waitFor(isPushOf(sha));
  const list = async () =>
    (await forge.gitHub.webhookDeliveries()).deliveries.filter(({ guid }) => guid === first.delivery);
  await expect.poll(async () => (await list()).map(({ status_code }) => status_code)).toEqual([401]);
  const [delivery] = await list();
  await forge.gitHub.redeliver(delivery?.id ?? 0);
  await expect
    .poll(async () => (await list()).map(({ status, redelivery }) => [status, redelivery]))
    .toEqual([
      ["OK", true],
      [expect.any(String), false],
    ]);
});

test("GH-1 pull requests send webhooks: opened, synchronize, closed", async () => {
  const base = (await git(work, "rev-parse", "HEAD")).trim();
  await git(work, "push", "-q", "towpath", `${base}:refs/heads/pr-branch`);
  const tokenAnswer = await fetch(`${forge.url}/api/v3/app/installations/${installationId}/access_tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${await createAppJwt(forge)}` },
  });
  const { token } = (await tokenAnswer.json()) as { token: string };
  const call = (path: string, method: string, body: unknown) =>
    fetch(`${forge.url}/api/v3/repos/ada/tools${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  const opened = await call("/pulls", "POST", { title: "A change", head: "ada:pr-branch", base: "main" });
  expect([opened.status, await opened.json()]).toEqual([201, expect.objectContaining({ number: 1, state: "open" })]);
  expect((await call("/pulls", "POST", { title: "Again", head: "pr-branch", base: "main" })).status).toBe(422);
  expect((await call("/issues/1/comments", "POST", { body: "Built." })).status).toBe(201);
  expect((await call(`/statuses/${base}`, "POST", { state: "success", context: "towpath" })).status).toBe(201);

  const sha = await commit("For the pull request");
  await git(work, "push", "-q", "towpath", "HEAD:pr-branch");
  const isPull =
    (action: string) =>
    ({ event }: Received, payload: Record<string, unknown>) =>
      event === "pull_request" && payload.action === action;
  const synchronized = parseWebhook("pull_request", (await forge.hooks.waitFor(isPull("synchronize"))).body);
  expect(synchronized).toMatchObject({
    payload: { number: 1, pull_request: { head: { ref: "pr-branch", sha }, base: { ref: "main" } } },
  });
  expect((await call("/pulls/1", "PATCH", { state: "closed" })).status).toBe(200);
  const closed = parseWebhook("pull_request", (await forge.hooks.waitFor(isPull("closed"))).body);
  expect(closed).toMatchObject({ payload: { pull_request: { state: "closed", merged: false } } });
  const address = { installationId, owner: "ada", name: "tools" };
  expect(await forge.gitHub.pullRequestsFrom(address, "pr-branch")).toEqual([
    expect.objectContaining({ number: 1, state: "closed", head: expect.objectContaining({ ref: "pr-branch", sha }) }),
  ]);
  expect(await forge.gitHub.pullRequestsFrom(address, "main")).toEqual([]);
});

test("GH-1 a rename and a new default branch send webhooks, and the number leads to the repository under its new name", async () => {
  const { repository, pushUrl: movingUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "moving" });
  await git(work, "push", "-q", movingUrl, "HEAD:main", "HEAD:trunk");
  const token = await forge.admin.userToken("ada");
  const change = async (name: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}` };
    const url = `${forge.url}/api/v3/repos/ada/${name}`;
    return (await fetch(url, { method: "PATCH", headers, body: JSON.stringify(body) })).status;
  };
  expect(await change("moving", { default_branch: "nowhere" })).toBe(422);
  expect(await change("moving", { name: "tools" })).toBe(422);
  expect(await change("moving", { name: "moved", default_branch: "trunk" })).toBe(200);
  const delivery = (action: string) =>
    forge.hooks.waitFor(({ event }, payload) => event === "repository" && payload.action === action);
  for (const action of ["renamed", "edited"]) {
    const { event, body } = await delivery(action);
    expect(parseWebhook(event, body)).toMatchObject({
      event: "repository",
      payload: { action, repository: { id: repository.id, full_name: "ada/moved", default_branch: "trunk" } },
    });
  }
  const found = await forge.gitHub.repositoryById(installationId, repository.id);
  expect(found).toMatchObject({ full_name: "ada/moved", default_branch: "trunk" });
});
