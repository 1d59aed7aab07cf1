import { getBuild, startBuild } from "@towpath/core/build";
import { newId } from "@towpath/core/ids";
import { createSecretBox } from "@towpath/core/secret";
import {
  liveCommit,
  type SeededOrganization,
  seedOrganization,
  seedProject,
  shaOf,
  testContext,
} from "@towpath/core/testing";
import { receiveWebhook } from "@towpath/core/webhook";
import { build, route, secret } from "@towpath/db/schema";
import { readBuildLog } from "@towpath/logs";
import { eq, sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runNextBuild } from "./jobs/build-run.ts";
import { sweep } from "./sweep.ts";
import { type Bench, goodBuild, openBench, rootSecret, until } from "./testing/worker-bench.ts";

let bench: Bench;
let team: SeededOrganization;
beforeEach(async () => {
  bench = await openBench();
  team = await seedOrganization(bench.database.db);
});
afterEach(() => bench.close());

const userContext = () => testContext(bench.database.db, team.owner, { queue: bench.services.queue });
async function start(project: { name: string }, name: string): Promise<string> {
  const input = { orgSlug: team.slug, projectName: project.name, commitSha: shaOf(name) };
  return (await startBuild({ ctx: userContext(), input })).build.id;
}
const show = (buildId: string) => getBuild({ ctx: userContext(), input: { buildId } });
const ended = (buildId: string) => until(async () => !["queued", "building"].includes((await show(buildId)).status));
const logOf = async (buildId: string) => {
  const lines = await readBuildLog(bench.database.pool, { buildId });
  return lines.map((line) => `${line.phase} ${line.kind} ${line.text}`).join("\n");
};

test("BLD-10 RUN-4 a build goes live only after its server has really started and answered", async () => {
  const project = await seedProject(bench.database.db, team);
  const binding = { projectId: project.id, keyName: "API_KEY", version: 1, environments: ["production"] };
  const ciphertext = createSecretBox(rootSecret).encrypt("very secret", binding);
  await bench.database.db.insert(secret).values({ ...binding, id: newId(), ciphertext });
  let routesWhenStarted = -1;
  const { lookUp } = bench.runner;
  bench.runner.lookUp = async (deploymentId) => {
    routesWhenStarted = await bench.database.db.$count(route);
    return lookUp(deploymentId);
  };
  bench.build = async (request) => {
    request.log("fetch", "step", "Fetching the commit.");
    request.log("install", "output", `the key is ${request.environment.API_KEY}`);
    expect(request.environment).toEqual({
      API_KEY: "very secret",
      TOWPATH_CLOUD_URL: `http://localhost:8080/${project.name}`,
      TOWPATH_CLOUD_GIT_COMMIT_SHA: shaOf("a"),
      TOWPATH_CLOUD_GIT_REPO: `acme/${project.name}`,
      TOWPATH_CLOUD_ENVIRONMENT: "production",
    });
    return goodBuild;
  };
  await bench.work();
  const buildId = await start(project, "a");
  await ended(buildId);
  expect(routesWhenStarted).toBe(0);
  const shown = await show(buildId);
  expect(shown).toMatchObject({ status: "succeeded", deployment: { isLive: true }, timings: { fetch: 1, install: 2 } });
  expect(shown.timings.rollout).toBeGreaterThanOrEqual(0);
  const text = await logOf(buildId);
  expect(text).toMatch(/^fetch step Fetching the commit\./);
  expect(text).toContain("the key is [API_KEY]");
  expect(text.endsWith(`rollout step Live: http://localhost:8080/${project.name}/mcp`)).toBe(true);
});

test("LOG-6 BLD-13 while the disk is nearly full a build waits and says so, and starts when there is room", async () => {
  const project = await seedProject(bench.database.db, team);
  bench.diskIsLow = true;
  await bench.work();
  const buildId = await start(project, "a");
  await until(async () => (await logOf(buildId)).includes("Waiting: this instance's disk is almost full"));
  expect((await show(buildId)).status).toBe("queued");
  bench.diskIsLow = false;
  await sweep(bench.services);
  await ended(buildId);
  expect((await show(buildId)).status).toBe("succeeded");
  expect((await logOf(buildId)).match(/Waiting: this/g)).toHaveLength(1);
});

test("BLD-2 a diagnosis that quotes what PostgreSQL cannot store is kept, not lost", async () => {
  const project = await seedProject(bench.database.db, team);
  const detail = `It said ${String.fromCharCode(0)} and \ud800.`;
  bench.build = async () => ({
    ok: false,
    timings: {},
    diagnosis: {
      code: "protocol_error",
      phase: "inspect",
      title: "It answers with an error",
      detail,
      remedy: "Mend it.",
      file: null,
      line: null,
      excerpt: detail,
    },
  });
  await bench.work();
  const buildId = await start(project, "a");
  await ended(buildId);
  const { diagnosis } = await show(buildId);
  expect(diagnosis).toMatchObject({ code: "protocol_error", detail: "It said \ufffd and \ufffd." });
});

test("BLD-2 whatever goes wrong, what is live stays and the build says the cause and what to do", async () => {
  const project = await seedProject(bench.database.db, team);
  await bench.work();
  await ended(await start(project, "good"));
  const server = { instanceId: "i", endpoint: { kind: "unix", path: "/nowhere" } } as const;
  const cases: readonly [string, () => void, RegExp][] = [
    [
      "diagnosis",
      () => {
        bench.build = async () => ({
          ok: false,
          timings: { fetch: 3 },
          diagnosis: {
            code: "module_missing",
            phase: "inspect",
            title: "The module requests is missing",
            detail: "d",
            remedy: "r",
            file: "server.py",
            line: 1,
            excerpt: null,
          },
        });
      },
      /module requests is missing/,
    ],
    [
      "bug",
      () => {
        bench.build = async () => {
          throw new Error("secret detail of ours");
        };
      },
      /error of Towpath/,
    ],
    [
      "start",
      () => {
        bench.build = async () => goodBuild;
        bench.runner.lookUp = () => ({
          ...server,
          failure: { code: "start_failed", message: "It ended with status 3." },
        });
      },
      /did not start/,
    ],
    [
      "answer",
      () => {
        bench.runner.lookUp = () => ({ ...server, isSilent: true });
      },
      /did not answer/,
    ],
    [
      "isolation",
      () => {
        bench.trusted = false;
      },
      /cannot isolate/,
    ],
  ];
  for (const [name, arrange, title] of cases) {
    arrange();
    const buildId = await start(project, name);
    await ended(buildId);
    const shown = await show(buildId);
    expect(shown.status).toBe("failed");
    expect(shown.diagnosis?.title).toMatch(title);
    expect(shown.diagnosis?.remedy).not.toBe("");
    expect(JSON.stringify(shown)).not.toContain("secret detail");
    if (name !== "diagnosis") {
      expect(await logOf(buildId)).toMatch(title);
      expect(await logOf(buildId)).not.toContain("secret detail");
    }
    expect(await liveCommit(bench.database.db, project.branchId)).toBe(shaOf("good"));
  }
});

test("BLD-12 a delivery becomes a build and is live, with nothing but the job queue between", async () => {
  const project = await seedProject(bench.database.db, team);
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

test("RUN-8 a worker that was taken for dead writes nothing more, and the next one ends the build", async () => {
  const project = await seedProject(bench.database.db, team);
  const buildId = await start(project, "a");
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
  const first = runNextBuild(bench.services, team.id, new AbortController().signal);
  await until(async () => requests === 1 && (await logOf(buildId)).includes("attempt 1"));
  // What the sweep does with a build without a sign of life, and another worker takes it.
  await bench.database.db.update(build).set({ status: "queued" }).where(eq(build.id, buildId));
  await runNextBuild(bench.services, team.id, new AbortController().signal);
  release();
  await first;
  expect(await show(buildId)).toMatchObject({ status: "succeeded", attempt: 2, deployment: { isLive: true } });
  expect(await liveCommit(bench.database.db, project.branchId)).toBe(shaOf("a"));
});

test("RUN-8 a worker that stops gives its build back, and it is built again", async () => {
  const project = await seedProject(bench.database.db, team);
  const buildId = await start(project, "a");
  let begun = false;
  bench.build = (request) =>
    new Promise((_resolve, reject) => {
      begun = true;
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    });
  const stopping = new AbortController();
  const running = runNextBuild(bench.services, team.id, stopping.signal);
  await until(() => begun);
  stopping.abort(new Error("stopping"));
  await expect(running).rejects.toThrow("stopping");
  expect((await show(buildId)).status).toBe("queued");
  bench.build = async () => goodBuild;
  await bench.work();
  await ended(buildId);
  expect((await show(buildId)).status).toBe("succeeded");
});

test("RUN-8 the sweep finds builds that lost their worker or their job, and makes tomorrow's partitions", async () => {
  const project = await seedProject(bench.database.db, team);
  const buildId = await start(project, "a");
  await bench.database.db.execute(sql`DELETE FROM pgboss.job`);
  await bench.database.db
    .update(build)
    .set({ status: "building", attempt: 1, updatedAt: sql`now() - interval '30 s'` })
    .where(eq(build.id, buildId));
  await bench.work();
  await sweep(bench.services);
  await ended(buildId);
  expect(await show(buildId)).toMatchObject({ status: "succeeded", attempt: 2 });
  const day = sql`SELECT to_regclass('request_log_' || to_char(now() + interval '2 days', 'YYYYMMDD')) AS name`;
  expect((await bench.database.db.execute<{ name: string | null }>(day)).rows[0]?.name).not.toBeNull();
});

test("BLD-13 builds run two at a time, those of a lone organization too", async () => {
  const projects = await Promise.all(Array.from({ length: 5 }, () => seedProject(bench.database.db, team)));
  let running = 0;
  let most = 0;
  bench.build = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 100));
    running--;
    return goodBuild;
  };
  const ids = await Promise.all(projects.map((project) => start(project, "a")));
  await bench.work(2);
  for (const buildId of ids) await ended(buildId);
  expect(most).toBe(2);
});

test("BLD-13 an organization with many slow builds leaves a place for others, who are served in turns", async () => {
  const teams = await Promise.all([1, 2, 3].map(() => seedOrganization(bench.database.db)));
  const [slow, ...quick] = teams as [SeededOrganization, ...SeededOrganization[]];
  const release = Promise.withResolvers<void>();
  const begun: string[] = [];
  bench.build = async (request) => {
    begun.push(request.organizationId);
    if (request.organizationId === slow.id) await release.promise;
    return goodBuild;
  };
  const startFor = async (of: SeededOrganization) => {
    const project = await seedProject(bench.database.db, of);
    const ctx = testContext(bench.database.db, of.owner, { queue: bench.services.queue });
    const input = { orgSlug: of.slug, projectName: project.name, commitSha: shaOf("a") };
    return (await startBuild({ ctx, input })).build.id;
  };
  const statusOf = async (buildId: string) =>
    (await bench.database.db.select({ status: build.status }).from(build).where(eq(build.id, buildId)))[0]?.status;
  const hasEnded = async (buildId: string) => !["queued", "building"].includes((await statusOf(buildId)) ?? "");
  const sleeping: string[] = [];
  for (let index = 0; index < 6; index++) sleeping.push(await startFor(slow));
  await bench.work(3, 2);
  await until(() => begun.length === 2);
  const others: string[] = [];
  for (const each of [...quick, ...quick]) others.push(await startFor(each));
  for (const buildId of others) await until(() => hasEnded(buildId));
  expect(begun.filter((id) => id === slow.id)).toHaveLength(2);
  // In turns, not all of one before the other.
  const [first, second] = quick.map(({ id }) => id);
  expect(begun.slice(2)).toEqual([first, second, first, second]);
  release.resolve();
  for (const buildId of sleeping) await until(() => hasEnded(buildId), 30_000);
});

test("BLD-10 a rollout waits for a runner that restarts or is full, and not for a server that keeps crashing", async () => {
  const project = await seedProject(bench.database.db, team);
  const { lookUp } = bench.runner;
  const failures = ["capacity", "stopping", "ended"] as const;
  let asked = 0;
  bench.runner.lookUp = async (deploymentId) => {
    const server = await lookUp(deploymentId);
    const code = failures[asked++];
    return server && code ? { ...server, failure: { code, message: "Not now.", retryAfterMs: 10 } } : server;
  };
  await bench.work();
  await bench.runner.stop();
  const buildId = await start(project, "a");
  await until(async () => (await logOf(buildId)).includes("Waiting for the runner"));
  await bench.runner.start();
  await ended(buildId);
  expect((await show(buildId)).status).toBe("succeeded");
  expect(asked).toBe(failures.length + 1);

  const crashing = { code: "crash_backoff", message: "It keeps failing.", retryAfterMs: 10 } as const;
  bench.runner.lookUp = async (deploymentId) => {
    asked++;
    const server = await lookUp(deploymentId);
    return server && { ...server, failure: crashing };
  };
  const failing = await start(project, "b");
  await ended(failing);
  expect(await show(failing)).toMatchObject({ status: "failed", diagnosis: { code: "exited_early" } });
  expect(asked).toBe(failures.length + 2);
});
