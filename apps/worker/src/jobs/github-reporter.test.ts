import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckReport, DeploymentReport, ReportAddress } from "@towpath/core/delivery/report";
import { createGitHub } from "@towpath/github";
import { git, startTestForge, type TestForge } from "@towpath/github-stand-in";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { createGitHubReporter, GitHubPaused } from "./github-reporter.ts";

let forge: TestForge;
let to: ReportAddress;
let sha = "";
let token = "";
const log = pino({ level: "silent" });

beforeAll(async () => {
  forge = await startTestForge();
  await forge.admin.ensureAccount({ login: "ada" });
  const { installationId } = await forge.admin.ensureInstallation({ login: "ada" });
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "tools" });
  to = { installationId, owner: "ada", name: "tools" };
  const directory = await mkdtemp(join(tmpdir(), "towpath-reporter-"));
  await git(directory, "init", "-q", "-b", "main", ".");
  await git(directory, "commit", "-q", "--allow-empty", "-m", "First");
  await git(directory, "push", "-q", pushUrl, "main", "main:topic");
  sha = (await git(directory, "rev-parse", "HEAD")).trim();
  await rm(directory, { recursive: true });
  token = await forge.admin.userToken("ada");
}, 30_000);
afterAll(() => forge.close());

const check = (more: Partial<CheckReport> = {}): CheckReport => ({
  sha,
  name: "towpath/tools",
  externalId: "build-1",
  detailsUrl: "http://localhost:3000/b/1",
  status: "queued",
  conclusion: null,
  title: "Waits",
  summary: "It waits.",
  text: null,
  actions: [],
  ...more,
});
const deployment = (more: Partial<DeploymentReport> = {}): DeploymentReport => ({
  sha,
  environment: "preview/topic",
  transient: true,
  description: "Towpath: tools",
  key: "build-1",
  state: "in_progress",
  logUrl: "http://localhost:3000/b/1",
  environmentUrl: null,
  ...more,
});
/** GitHub's REST API as the owner of the repository. */
const show = async (path: string, method = "GET", body?: unknown) => {
  return fetch(`${forge.url}/api/v3/repos/ada/tools${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
};

test.runIf(isThorough)(
  "BLD-8 GitHub keeps one check run, deployment and comment, as a client creates, changes and finds them again",
  async () => {
    const reporter = createGitHubReporter(forge.gitHub, log);
    const first = await reporter.check(to, check(), null);
    expect(await reporter.check(to, check({ status: "completed", conclusion: "success", title: "Live" }), first)).toBe(
      first,
    );
    // The row was lost, and with it the id.
    expect(await reporter.check(to, check({ status: "completed", conclusion: "success" }), null)).toBe(first);
    const runs = await (await show(`/commits/${sha}/check-runs`)).json();
    expect(runs).toMatchObject({ total_count: 1, check_runs: [{ id: first, head_sha: sha, conclusion: "success" }] });

    const id = await reporter.deployment(to, deployment(), null);
    const environmentUrl = "http://localhost:8080/tools-topic/mcp";
    expect(await reporter.deployment(to, deployment({ state: "success", environmentUrl }), null)).toBe(id);
    const statuses = (await (await show(`/deployments/${id}/statuses`)).json()) as unknown[];
    expect(statuses).toMatchObject([{ state: "success", environment_url: environmentUrl }, { state: "in_progress" }]);

    const pull = { title: "Try it", head: "topic", base: "main" };
    const { number } = (await (await show("/pulls", "POST", pull)).json()) as { number: number };
    const mark = "<!-- towpath:one -->";
    // Somebody else's comment with the mark is not ours to change.
    await show(`/issues/${number}/comments`, "POST", { body: `${mark} not ours` });
    const comment = await reporter.comment(to, { number, mark, body: `${mark}\nOne` }, null);
    expect(await reporter.comment(to, { number, mark, body: `${mark}\nTwo` }, null)).toBe(comment);
    await show(`/issues/comments/${comment}`, "DELETE");
    const again = await reporter.comment(to, { number, mark, body: `${mark}\nThree` }, comment);
    expect(again).not.toBe(comment);
    const comments = (await (await show(`/issues/${number}/comments`)).json()) as { body: string }[];
    expect(comments.map(({ body }) => body)).toEqual([`${mark} not ours`, `${mark}\nThree`]);
  },
);

test("BLD-8 a deployment that is no longer served is set inactive, and one deleted on GitHub isn't created again", async () => {
  const reporter = createGitHubReporter(forge.gitHub, log);
  const id = (await reporter.deployment(to, deployment({ key: "left", state: "success" }), null)) ?? 0;
  const ended = { description: "Towpath: tools", logUrl: "http://localhost:3000" };
  await reporter.endDeployment(to, id, ended);
  const statuses = (await (await show(`/deployments/${id}/statuses`)).json()) as unknown[];
  expect(statuses[0]).toMatchObject({ state: "inactive" });
  const all = async () => ((await (await show("/deployments")).json()) as unknown[]).length;
  const before = await all();
  await reporter.endDeployment(to, 4711, ended);
  expect(await all()).toBe(before);
});

test("BLD-8 refusals of GitHub fail nothing: a completed check without a conclusion, long labels, unknown commits", async () => {
  const reporter = createGitHubReporter(forge.gitHub, log);
  const refused = async (body: unknown) => (await show("/check-runs", "POST", body)).status;
  expect(await refused({ name: "x", head_sha: sha, status: "completed" })).toBe(422);
  const action = { label: "a label of more than twenty", description: "d", identifier: "i" };
  expect(await refused({ name: "x", head_sha: sha, actions: [action] })).toBe(422);
  // A permanent refusal of GitHub fails nothing, and isn't retried.
  expect(await reporter.check(to, check({ sha: "0".repeat(40) }), null)).toBeNull();
});

test("BLD-8 an App without the permission for checks reports a commit status, and without others nothing", async () => {
  const granted = { statuses: "write", metadata: "read" };
  const installation = async (id: number) => ({ ...(await forge.gitHub.installation(id)), permissions: granted });
  const reporter = createGitHubReporter({ ...forge.gitHub, installation }, log);
  const report = check({ name: "towpath/poor", status: "completed", conclusion: "failure", title: "Broken" });
  expect(await reporter.check(to, report, null)).toBeNull();
  expect(await reporter.deployment(to, deployment({ key: "none" }), null)).toBeNull();
  expect(await reporter.comment(to, { number: 1, mark: "<!-- none -->", body: "none" }, null)).toBeNull();
  const statuses = await (await show(`/commits/${sha}/statuses`)).json();
  expect(statuses).toMatchObject([{ context: "towpath/poor", state: "failure", description: "Broken" }]);
});

test("BLD-8 while GitHub limits requests, nothing more is sent for the installation, and it says until when", async () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    if (request.url?.endsWith("/access_tokens")) {
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      return response.writeHead(201).end(JSON.stringify({ token: "t", expires_at: expires }));
    }
    // A secondary limit, as GitHub answers it.
    response.writeHead(403, { "retry-after": "1800" }).end(JSON.stringify({ message: "secondary rate limit" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limited = createGitHub({ ...forge.gitHubConfig, apiUrl });
  const reporter = createGitHubReporter({ ...limited, installation: forge.gitHub.installation }, log);
  const paused = await reporter.check(to, check(), null).catch((error: unknown) => error);
  expect(paused).toBeInstanceOf(GitHubPaused);
  expect((paused as GitHubPaused).retryAt.getTime()).toBeGreaterThan(Date.now() + 1_000_000);
  const sent = requests;
  await expect(reporter.deployment(to, deployment(), null)).rejects.toThrow(GitHubPaused);
  expect(requests).toBe(sent);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
