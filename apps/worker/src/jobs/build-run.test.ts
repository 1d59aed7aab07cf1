import { receiveWebhook } from "@towpath/core/sources/webhook";
import {
  liveCommit,
  type SeededOrganization,
  sampleDiagnosis,
  seedProject,
  shaOf,
  testContext,
} from "@towpath/core/testing";
import { build } from "@towpath/db/schema";
import { SandboxError } from "@towpath/runtime";
import { eq, sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { sweep } from "../sweep.ts";
import { type Bench, type Builds, goodBuild, openBuilds, until } from "../testing/worker-bench.ts";
import { runNextBuild } from "./build-run.ts";

let bench: Bench;
let organization: SeededOrganization;
let builds: Builds;
beforeEach(async () => {
  ({ bench, organization, builds } = await openBuilds());
});
afterEach(() => bench.close());

test("BLD-2 a diagnosis that quotes what PostgreSQL cannot store is kept, not lost", async () => {
  const project = await seedProject(bench.database.db, organization);
  const detail = `It printed ${String.fromCharCode(0)} and \ud800.`;
  bench.build = async () => ({
    ok: false,
    timings: {},
    diagnosis: {
      code: "protocol_error",
      phase: "inspect",
      title: "It answers with an error",
      detail,
      remedy: "Fix it.",
      file: null,
      line: null,
      excerpt: detail,
      action: { kind: "rebuild" },
    },
  });
  await bench.work();
  const buildId = await builds.start(project, "a");
  await builds.ended(buildId);
  const { diagnosis } = await builds.show(buildId);
  expect(diagnosis).toMatchObject({ code: "protocol_error", detail: "It printed \ufffd and \ufffd." });
});

test.runIf(isThorough)(
  "BLD-8 GH-3 a build's check run ends with its outcome and links to it, and a build doesn't wait for GitHub",
  async () => {
    const project = await seedProject(bench.database.db, organization);
    await bench.work();
    const lastOf = (commit: string) => bench.checks.findLast(({ sha }) => sha === shaOf(commit));
    const good = await builds.start(project, "a");
    await until(() => lastOf("a")?.status === "completed");
    expect(lastOf("a")).toMatchObject({
      name: `towpath/${project.name}`,
      conclusion: "success",
      title: "Live",
      externalId: good,
      detailsUrl: `http://localhost:3000/${organization.slug}/${project.name}/build-logs/${good}`,
    });
    bench.build = async () => ({ ok: false, timings: {}, diagnosis: { ...sampleDiagnosis, title: "t".repeat(200) } });
    await builds.start(project, "b");
    await until(() => lastOf("b")?.status === "completed");
    expect(lastOf("b")).toMatchObject({ conclusion: "failure", title: `${"t".repeat(139)}…` });
    bench.gitHubIsDown = true;
    bench.build = async () => goodBuild;
    const last = await builds.start(project, "c");
    await builds.ended(last);
    expect((await builds.show(last)).status).toBe("succeeded");
    expect(lastOf("c")).toBeUndefined();
    bench.gitHubIsDown = false;
    await until(() => lastOf("c")?.conclusion === "success");
  },
);

test("RUN-8 a worker that was taken for dead writes nothing more, and the next one ends the build", async () => {
  const project = await seedProject(bench.database.db, organization);
  const buildId = await builds.start(project, "a");
  let release = () => {};
  let requests = 0;
  bench.build = (request) =>
    new Promise((resolve, reject) => {
      requests++;
      request.log("install", "output", `attempt ${requests}`);
      if (requests === 2) return resolve(goodBuild);
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
      release = () => resolve(goodBuild);
    });
  const first = runNextBuild(bench.services, organization.id, new AbortController().signal);
  await until(async () => requests === 1 && (await builds.logOf(buildId)).includes("attempt 1"));
  // Like the sweep after a missing heartbeat; then another worker takes the build.
  await bench.database.db.update(build).set({ status: "queued" }).where(eq(build.id, buildId));
  await runNextBuild(bench.services, organization.id, new AbortController().signal);
  release();
  await first;
  expect(await builds.show(buildId)).toMatchObject({ status: "succeeded", attempt: 2, deployment: { isLive: true } });
  expect(await liveCommit(bench.database.db, project.branchId)).toBe(shaOf("a"));
});

test("RUN-8 a worker that stops gives its build back, and it is built again", async () => {
  const project = await seedProject(bench.database.db, organization);
  const buildId = await builds.start(project, "a");
  let begun = false;
  bench.build = (request) =>
    new Promise((_resolve, reject) => {
      begun = true;
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
  const stopping = new AbortController();
  const running = runNextBuild(bench.services, organization.id, stopping.signal);
  await until(() => begun);
  stopping.abort(new Error("stopping"));
  await expect(running).rejects.toThrow("stopping");
  expect((await builds.show(buildId)).status).toBe("queued");
  bench.build = async () => goodBuild;
  await bench.work();
  await builds.ended(buildId);
  expect((await builds.show(buildId)).status).toBe("succeeded");
});

test("RUN-7 RUN-8 builds wait for what runs builds and servers: an outage fails none", async () => {
  const project = await seedProject(bench.database.db, organization);
  const buildId = await builds.start(project, "a");
  const run = () => runNextBuild(bench.services, organization.id, new AbortController().signal);
  bench.build = async () => {
    throw new SandboxError("unreachable", "10.0.0.1 does not answer.");
  };
  await expect(run()).rejects.toThrow("10.0.0.1");
  expect((await builds.show(buildId)).status).toBe("queued");
  bench.build = async () => goodBuild;
  await run();
  expect(await builds.show(buildId)).toMatchObject({ status: "succeeded", deployment: { isLive: true } });
  const text = await builds.logOf(buildId);
  expect(text).toContain("What runs builds and servers can't be reached. The build begins again when it can.");
  expect(text).not.toContain("10.0.0.1");
});

test("BLD-12 a delivery becomes a build and is live, with nothing but the job queue between", async () => {
  const project = await seedProject(bench.database.db, organization);
  bench.heads.set("main", shaOf("head"));
  await bench.work();
  const ctx = testContext(bench.database.db, { kind: "job", job: "webhook.receive" }, { queue: bench.services.queue });
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
  const input = { deliveryId: "delivery-1", event: "push", payload };
  await receiveWebhook({ ctx, input });
  await receiveWebhook({ ctx, input });
  await receiveWebhook({ ctx, input: { ...input, deliveryId: "unreadable", payload: { ref: 1 } } });
  await until(async () => (await liveCommit(bench.database.db, project.branchId)) === shaOf("head"));
  await until(async () => {
    const open = sql`SELECT count(*)::int AS n FROM webhook_delivery WHERE processed_at IS NULL`;
    return (await bench.database.db.execute<{ n: number }>(open)).rows[0]?.n === 0;
  });
  expect(await bench.database.db.$count(build, eq(build.projectId, project.id))).toBe(1);
});

test("RUN-8 the sweep finds builds that lost their worker or their job, and makes tomorrow's partitions", async () => {
  const project = await seedProject(bench.database.db, organization);
  const buildId = await builds.start(project, "a");
  await bench.database.db.execute(sql`DELETE FROM pgboss.job`);
  await bench.database.db
    .update(build)
    .set({ status: "building", attempt: 1, updatedAt: sql`now() - interval '30 s'` })
    .where(eq(build.id, buildId));
  await bench.work();
  await sweep(bench.services);
  await builds.ended(buildId);
  expect(await builds.show(buildId)).toMatchObject({ status: "succeeded", attempt: 2 });
  const day = sql`SELECT to_regclass('request_log_' || to_char(now() + interval '2 days', 'YYYYMMDD')) AS name`;
  expect((await bench.database.db.execute<{ name: string | null }>(day)).rows[0]?.name).not.toBeNull();
});
