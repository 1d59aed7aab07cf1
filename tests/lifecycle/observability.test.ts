import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { openDatabase } from "@towpath/db";
import { commitFiles, type GitServer, makeRepository, serveGitRepositories } from "@towpath/git/testing";
import { freePort } from "@towpath/role/testing";
import { type Collector, type ReceivedSpan, startCollector } from "@towpath/telemetry/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documentedMetrics, exportedMetrics } from "../../docs/metrics.ts";
import { metricsOf } from "../instance/metrics.ts";
import { modernCall } from "../instance/modern-call.ts";
import { operatorPost } from "../instance/operator.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { putToSleep } from "../instance/sleep.ts";
import { instancePorts, startTowpath, type TowpathInstance, towpath } from "../instance/towpath-process.ts";

// An instance with a collector of OpenTelemetry. The tests build on each other.

const name = "traced-server";
const roles = ["web", "gateway", "worker", "runner"] as const;
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

let directory: string;
let dataDirectory: string;
let repository: string;
let collector: Collector;
let gitServer: GitServer;
let runnerPort: number;
let instance: TowpathInstance;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-obs-"));
  dataDirectory = join(directory, "data");
  repository = join(directory, "acme/traced.git");
  collector = await startCollector();
  gitServer = await serveGitRepositories(directory);
  runnerPort = await freePort();
  instance = await startTowpath(dataDirectory, await instancePorts(), {
    TOWPATH_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    TOWPATH_RUNNER_METRICS_PORT: String(runnerPort),
    // Where the test serves the repository.
    TOWPATH_EXTERNAL_NETWORKS: "127.0.0.0/8",
  });
}, 240_000);
afterAll(async () => {
  await instance?.stop();
  await gitServer?.close();
  await collector?.kill();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const files = (change: string) => ({
  "requirements.txt": plainRequirements,
  "server.py": plainServer({ trace: 'headers.get("traceparent", "none")' }, `# ${change}`),
});
const metrics = async (role: (typeof roles)[number]) =>
  role === "runner" ? (await fetch(`http://127.0.0.1:${runnerPort}/-/metrics`)).text() : metricsOf(instance, role);

/** The names of a span and of those above it, the first of its trace last. */
function lineOf(span: ReceivedSpan | undefined): readonly string[] {
  if (span === undefined) return [];
  const ofTrace = collector.spans().filter(({ traceId }) => traceId === span.traceId);
  return [span.name, ...lineOf(ofTrace.find(({ spanId }) => spanId === span.parentSpanId))];
}

const named = (spanName: string, traceId?: string) =>
  collector.spans().filter((span) => span.name === spanName && (traceId ?? span.traceId) === span.traceId);

async function webhookOf(project: string): Promise<() => Promise<number>> {
  const made = await operatorPost(instance, `projects/${project}/source/webhook-secret`, {});
  const { secret, source } = made as { secret: string; source: { webhook: { url: string } } };
  const { pathname } = new URL(source.webhook.url, instance.url);
  return async () =>
    (await fetch(new URL(pathname, instance.url), { method: "POST", headers: { "x-gitlab-token": secret } })).status;
}

test("OPS-9 one trace leads from a push's webhook to live, over web, worker and runner", async () => {
  await makeRepository(repository, files("first"));
  const args = ["deploy", `${gitServer.url}/acme/traced.git`, "--name", name, "--public"];
  const deployed = await towpath(...args, "--data-dir", dataDirectory);
  expect(deployed.stdout + deployed.stderr).toContain("Live: ");
  await expect.poll(() => named("move route").length).toBe(1);
  expect(lineOf(named("move route")[0])).toEqual(["move route", "build", "POST rest"]);

  const send = await webhookOf(name);
  let built: ReceivedSpan | undefined;
  // A question to the host that happens to be due may find the push first.
  for (let push = 2; built === undefined && push < 6; push++) {
    await commitFiles(repository, files(`push ${push}`));
    expect(await send()).toBe(202);
    await expect.poll(() => named("move route").length, { timeout: 90_000 }).toBe(push);
    built = named("build").find((span) => lineOf(span).at(-1) === "POST webhook");
  }
  const above = ["build", "job branch.sync", "job source.check", "POST webhook"];
  expect(lineOf(built)).toEqual(above);
  const traceId = built?.traceId ?? "";
  for (const phase of ["fetch", "plan", "install", "inspect", "verify", "move route"])
    expect(named(phase, traceId).map(lineOf), phase).toEqual([[phase, ...above]]);
  const started = ["start server", "runner ensure", "start", "inspect", ...above];
  await expect.poll(() => named("start server", traceId).map(lineOf)).toEqual([started]);
  const services = collector.spans().flatMap((span) => (span.traceId === traceId ? [span.service] : []));
  expect(new Set(services)).toEqual(new Set(["towpath-web", "towpath-worker", "towpath-runner"]));
  expect(built?.attributes).toMatchObject({ "towpath.build.end": "succeeded", "towpath.environment": "production" });
}, 400_000);

test("OPS-9 LOG-4 one trace leads from a call to its server, with the start that it caused", async () => {
  const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 1 });
  await putToSleep(dataDirectory, pool, [name]);
  await close();
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const { headers, ...call } = modernCall("trace", {}, "tracing");
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  const answer = await fetch(`${instance.serversUrl}/${name}/mcp`, { ...call, headers: { ...headers, traceparent } });
  const body = await answer.text();
  await expect.poll(() => named("tools/call trace", traceId)).toHaveLength(1);
  const [span] = named("tools/call trace", traceId);
  expect(span).toMatchObject({ service: "towpath-gateway", parentSpanId: "00f067aa0ba902b7" });
  // What the server got.
  expect(body).toContain(`00-${traceId}-${span?.spanId}-01`);
  await expect
    .poll(() => named("start server", traceId).map(lineOf))
    .toEqual([["start server", "runner ensure", "tools/call trace"]]);
}, 60_000);

test("OPS-9 OPS-2 every process exports the metrics that are documented, with their types and labels, and no others", async () => {
  const form = new URLSearchParams({ email: "nobody@example.test", password: "a wrong password" });
  const headers = { origin: instance.url };
  await fetch(`${instance.url}/provider/sign-in`, { method: "POST", body: form, headers, redirect: "manual" });
  for (const role of roles) {
    const exported = exportedMetrics(await metrics(role));
    const documented = [...documentedMetrics("Every process"), ...documentedMetrics(role)];
    const briefly = (all: typeof exported) => all.map((metric) => `${metric.type} ${metric.name}`).toSorted();
    expect(briefly(exported), role).toEqual(briefly(documented));
    for (const { name: metric, labels } of exported) {
      const known = documented.find((each) => each.name === metric)?.labels ?? [];
      expect(
        labels.filter((label) => !known.includes(label)),
        metric,
      ).toEqual([]);
    }
  }
});

test("OPS-9 metrics count what has happened here, and name no server, tool or person", async () => {
  const all = new Map<string, string>();
  for (const role of roles) all.set(role, await metrics(role));
  const count = (role: string, sample: string) => {
    const line = all
      .get(role)
      ?.split("\n")
      .find((each) => each.startsWith(`${sample} `));
    return Number(line?.split(" ").at(-1));
  };
  expect(count("worker", 'towpath_worker_builds_total{result="succeeded"}')).toBeGreaterThanOrEqual(2);
  expect(count("worker", 'towpath_worker_builds_total{result="error"}')).toBe(0);
  expect(count("worker", 'towpath_worker_build_phase_duration_seconds_count{phase="install"}')).toBeGreaterThan(1);
  expect(count("worker", 'towpath_worker_jobs_total{queue="branch.sync",result="done"}')).toBeGreaterThan(0);
  expect(count("worker", 'towpath_queue_jobs{queue="build.run"}')).toBe(0);
  expect(count("worker", 'towpath_builds{status="queued"}')).toBe(0);
  expect(count("web", 'towpath_web_requests_total{route="webhook",status="202"}')).toBeGreaterThan(0);
  expect(count("web", 'towpath_web_sign_ins_total{method="password",result="wrong_credentials"}')).toBe(1);
  expect(count("gateway", 'towpath_gateway_responses_total{status="200"}')).toBe(1);
  expect(count("gateway", "towpath_gateway_log_rows_dropped_total")).toBe(0);
  const starts = ["prewarmed", "cold"].map((kind) =>
    count("runner", `towpath_runner_starts_total{kind="${kind}",result="ready"}`),
  );
  expect(starts.reduce((sum, each) => sum + each)).toBeGreaterThanOrEqual(3);
  expect(count("runner", "towpath_runner_places_used")).toBeGreaterThan(0);
  for (const role of roles) {
    expect(count(role, `process_open_fds{role="${role}"}`)).toBeGreaterThan(10);
    expect(count(role, `towpath_spans_total{role="${role}",result="exported"}`)).toBeGreaterThan(0);
    expect(all.get(role)).not.toMatch(new RegExp(`${name}|nobody@|acme|="trace"`));
  }
});

test.skipIf(!hasPromtool)("OPS-9 promtool finds no fault in the metrics of any process", async () => {
  for (const role of roles) {
    const child = spawn("promtool", ["check", "metrics"], { stdio: ["pipe", "pipe", "pipe"] });
    const ended = once(child, "close");
    child.stdin.end(await metrics(role));
    const [faults] = await Promise.all([text(child.stderr), ended]);
    expect([faults, child.exitCode], role).toEqual(["", 0]);
  }
});
