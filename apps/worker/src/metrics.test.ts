import { receiveWebhook } from "@towpath/core/sources/webhook";
import { type SeededOrganization, seedProject, shaOf, testContext } from "@towpath/core/testing";
import { deployment } from "@towpath/db/schema";
import type { SpanData } from "@towpath/telemetry";
import { startTrace } from "@towpath/telemetry/trace";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { runNextBuild } from "./jobs/build-run.ts";
import { jobConcurrency, jobHandlers, tracedJob } from "./jobs/jobs.ts";
import { WorkerMetrics } from "./metrics.ts";
import { type Bench, type Builds, goodBuild, openBuilds, until } from "./testing/worker-bench.ts";

let bench: Bench;
let organization: SeededOrganization;
let builds: Builds;
let registry: Registry;
let metrics: WorkerMetrics;
const spans: SpanData[] = [];
const sink = { push: (span: SpanData) => void spans.push(span) };
beforeEach(async () => {
  spans.length = 0;
  ({ bench, organization, builds } = await openBuilds());
  registry = new Registry();
  metrics = new WorkerMetrics(registry, bench.database);
});
afterEach(() => bench.close());

const services = () => ({ ...bench.services, buildEnded: metrics.buildEnded.bind(metrics), spans: sink });
const never = new AbortController().signal;

async function countOf(sample: string): Promise<number> {
  const line = (await registry.metrics()).split("\n").find((each) => each.startsWith(`${sample} `));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
}

test.runIf(isThorough)(
  "OPS-9 builds are counted by how they ended, from 0 on, and timed with their phases",
  async () => {
    const project = await seedProject(bench.database.db, organization);
    const run = async (commit: string, signal = never) => {
      await builds.start(project, commit);
      await runNextBuild(services(), organization.id, signal);
    };
    const ends = ["succeeded", "failed", "error", "released", "lost"] as const;
    const counts = () => Promise.all(ends.map((end) => countOf(`towpath_worker_builds_total{result="${end}"}`)));
    expect(await counts()).toEqual([0, 0, 0, 0, 0]);
    await run("a");
    bench.trusted = false;
    await run("b");
    bench.trusted = true;
    bench.build = () => Promise.reject(new Error("on our side"));
    await run("c");
    const stopping = new AbortController();
    bench.build = async () => {
      stopping.abort(new Error("stopping"));
      throw new Error("stopping");
    };
    await expect(run("d", stopping.signal)).rejects.toThrow("stopping");
    expect(await counts()).toEqual([1, 1, 1, 1, 0]);
    expect(await countOf('towpath_worker_build_duration_seconds_count{result="succeeded"}')).toBe(1);
    expect(await countOf('towpath_worker_build_phase_duration_seconds_sum{phase="install"}')).toBe(0.002);
    expect(await countOf('towpath_worker_build_phase_duration_seconds_count{phase="rollout"}')).toBe(1);
  },
);

test("OPS-9 what waits for a worker is counted with its age, and jobs by kind and result", async () => {
  const project = await seedProject(bench.database.db, organization);
  await builds.start(project, "a");
  expect(await countOf('towpath_queue_jobs{queue="build.run"}')).toBe(1);
  expect(await countOf('towpath_queue_jobs{queue="mail.send"}')).toBe(0);
  expect(await countOf('towpath_builds{status="queued"}')).toBe(1);
  expect(await countOf('towpath_builds_oldest_seconds{status="building"}')).toBe(0);
  await until(async () => (await countOf('towpath_queue_oldest_job_seconds{queue="build.run"}')) > 0.1);
  await until(async () => (await countOf('towpath_builds_oldest_seconds{status="queued"}')) > 0.1);
  const job = { name: "mail.send", traceparent: null } as const;
  await expect(metrics.aroundJob(job, () => Promise.reject(new Error("no mail server")))).rejects.toThrow();
  await metrics.aroundJob(job, async () => {
    expect(await countOf('towpath_worker_jobs_running{queue="mail.send"}')).toBe(1);
  });
  expect(await countOf('towpath_worker_jobs_running{queue="mail.send"}')).toBe(0);
  expect(await countOf('towpath_worker_jobs_total{queue="mail.send",result="failed"}')).toBe(1);
  expect(await countOf('towpath_worker_jobs_total{queue="mail.send",result="done"}')).toBe(1);
});

test("OPS-9 a build belongs to the trace of what requested it, also after another worker gave it back", async () => {
  const project = await seedProject(bench.database.db, organization);
  const requested = { name: "requested", kind: "server", traceparent: null } as const;
  const buildId = await startTrace(sink, requested, () => builds.start(project, "a"));
  const stopping = new AbortController();
  bench.build = async () => {
    stopping.abort(new Error("stopping"));
    throw new Error("stopping");
  };
  await expect(runNextBuild(services(), organization.id, stopping.signal)).rejects.toThrow("stopping");
  bench.build = async () => goodBuild;
  await runNextBuild(services(), organization.id, never);
  const [request, ...others] = spans.filter(({ name }) => name === "requested");
  expect(others).toEqual([]);
  const built = spans.filter(({ name }) => name === "build");
  expect(built.map(({ attributes }) => attributes["towpath.build.end"])).toEqual(["released", "succeeded"]);
  for (const span of built) {
    expect(span.trace).toMatchObject({ traceId: request?.trace.traceId, parentSpanId: request?.trace.spanId });
    expect(span.attributes["towpath.build.id"]).toBe(buildId);
  }
  const [moved] = spans.filter(({ name }) => name === "move route");
  expect(moved?.trace.parentSpanId).toBe(built[1]?.trace.spanId);
  expect(await bench.database.db.$count(deployment)).toBe(1);
});

test("OPS-9 a delivery of GitHub, its jobs, the build and the move of the route are one trace; other jobs have none", async () => {
  const project = await seedProject(bench.database.db, organization);
  bench.heads.set("main", shaOf("head"));
  const { queue } = bench.services;
  const ctx = testContext(bench.database.db, { kind: "job", job: "webhook.receive" }, { queue });
  const repository = {
    id: project.repositoryId,
    name: "echo",
    full_name: `acme/${project.name}`,
    private: false,
    default_branch: "main",
    html_url: "",
    owner: {},
  };
  const payload = { ref: "refs/heads/main", before: "0", after: shaOf("older"), head_commit: null, repository };
  await startTrace(sink, { name: "POST webhook", kind: "server", traceparent: null }, () =>
    receiveWebhook({ ctx, input: { deliveryId: "delivery-1", event: "push", payload } }),
  );
  await queue.enqueue("source.check", { projectId: project.id }, { key: project.id });
  const ended: string[] = [];
  const traced = tracedJob(services());
  await bench.workers.work({
    ...jobConcurrency({ maxBuilds: 1, maxBuildsPerOrganization: 1 }),
    handlers: jobHandlers(services()),
    around: (job, run) => traced(job, run).finally(() => ended.push(job.name)),
  });
  await until(() => spans.some(({ name }) => name === "move route") && ended.includes("source.check"));
  await until(() => spans.some(({ name }) => name === "build") && spans.some(({ name }) => name === "job branch.sync"));
  const lineOf = (span: SpanData | undefined): readonly string[] =>
    span ? [span.name, ...lineOf(spans.find(({ trace }) => trace.spanId === span.trace.parentSpanId))] : [];
  const above = ["build", "job branch.sync", "job webhook.process", "POST webhook"];
  expect(lineOf(spans.find(({ name }) => name === "move route"))).toEqual(["move route", ...above]);
  expect(new Set(spans.map(({ trace }) => trace.traceId)).size).toBe(1);
  expect(spans.map(({ name }) => name)).not.toContain("job source.check");
});
