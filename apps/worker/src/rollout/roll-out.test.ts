import type { BuildRequest } from "@towpath/builder";
import { cancelBuild } from "@towpath/core/delivery/build";
import { promoteDeployment } from "@towpath/core/delivery/deployment";
import {
  liveCommit,
  type SeededOrganization,
  seedProject,
  seedSecrets,
  shaOf,
  testContext,
} from "@towpath/core/testing";
import { build, deployment as deploymentTable, project as projectTable, route } from "@towpath/db/schema";
import type { LateStart } from "@towpath/runtime";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { type Bench, type Builds, goodBuild, openBuilds, until } from "../testing/worker-bench.ts";

let bench: Bench;
let organization: SeededOrganization;
let builds: Builds;
beforeEach(async () => {
  ({ bench, organization, builds } = await openBuilds());
});
afterEach(() => bench.close());

test("BLD-10 RUN-4 KEY-4 a build goes live only after its server has really started and answered", async () => {
  const project = await seedProject(bench.database.db, organization);
  await seedSecrets(bench.database.db, bench.services.secrets, project.id, { API_KEY: "very secret" });
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
  const buildId = await builds.start(project, "a");
  await builds.ended(buildId);
  expect(routesWhenStarted).toBe(0);
  const shown = await builds.show(buildId);
  expect(shown).toMatchObject({ status: "succeeded", deployment: { isLive: true }, timings: { fetch: 1, install: 2 } });
  expect(shown.timings.rollout).toBeGreaterThanOrEqual(0);
  const text = await builds.logOf(buildId);
  expect(text).toMatch(/^fetch step Fetching the commit\./);
  expect(text).toContain("the key is [API_KEY]");
  expect(text.endsWith(`rollout step Live: http://localhost:8080/${project.name}/mcp`)).toBe(true);
});

test("PRJ-14 RUN-4 GH-3 a promotion gives the builder the preview's layers and production's variables, goes live, and says so at its commit", async () => {
  const { db } = bench.database;
  const project = await seedProject(db, organization);
  await seedSecrets(db, bench.services.secrets, project.id, { API_KEY: "very secret" });
  await bench.work();
  const preview = await builds.start(project, "a", "feature");
  await builds.ended(preview);
  const layers = { pythonVersion: "3.12.1", dependencies: "c".repeat(64), code: "d".repeat(64) };
  await db.update(build).set({ layers }).where(eq(build.id, preview));
  const { deployment } = await builds.show(preview);
  const requests: BuildRequest[] = [];
  const startedAt: string[] = [];
  bench.inspect = async (request, start) => {
    requests.push(request);
    expect(await start()).toMatchObject({ kind: "unix" });
    startedAt.push(...bench.runner.ensured.slice(-1));
    return { ...goodBuild, layers, ownSignIn: true };
  };
  bench.build = async (request) => {
    requests.push(request);
    return goodBuild;
  };
  const ctx = testContext(db, organization.owner, { queue: bench.services.queue });
  const { id } = await promoteDeployment({ ctx, input: { deploymentId: deployment?.id ?? "" } });
  await builds.ended(id);
  expect(await builds.show(id)).toMatchObject({ status: "succeeded", deployment: { isLive: true, isProd: true } });
  expect(await liveCommit(db, project.branchId)).toBe(shaOf("a"));
  // The inspected server is live, and nothing was built.
  const promoted = (await builds.show(id)).deployment?.id;
  expect(startedAt).toEqual([promoted]);
  expect(bench.runner.ensured.slice(-2)).toEqual([promoted, promoted]);
  const [stored] = await db.select().from(build).where(eq(build.id, id));
  expect(stored).toMatchObject({ manifest: goodBuild.manifest, ownSignIn: true, layers });
  expect(requests).toMatchObject([
    { layers, environment: { API_KEY: "very secret", TOWPATH_CLOUD_ENVIRONMENT: "production" } },
  ]);
  const reported = () => bench.checks.findLast(({ sha, externalId }) => sha === shaOf("a") && externalId === id);
  await until(() => reported()?.status === "completed");
  expect(reported()).toMatchObject({ conclusion: "success", summary: expect.stringContaining("Live in production") });
  // Pushed commits are built as ever.
  await builds.ended(await builds.start(project, "b"));
  expect(requests[1]?.layers).toBeNull();
  expect((await builds.show(preview)).deployment).toMatchObject({ isLive: true, isProd: false });
});

test("BLD-10 BLD-6 a build's server starts once: where it was inspected is where it goes live, with what its start has shown", async () => {
  const { db } = bench.database;
  const project = await seedProject(db, organization);
  const { layers, program } = goodBuild;
  const { lookUp } = bench.runner;
  const incomplete = { reason: "It registers more in main().", tools: ["more"] };
  bench.runner.lookUp = async (deploymentId) => {
    const server = await lookUp(deploymentId);
    return server && { ...server, shown: { output: ["Hello."], bridge: "object", incomplete } };
  };
  const started: unknown[] = [];
  bench.build = async (request) => {
    started.push(await request.startInPlace?.({ layers, program }, request.signal));
    return goodBuild;
  };
  await bench.work();
  const buildId = await builds.start(project, "a");
  await builds.ended(buildId);
  const { deployment } = await builds.show(buildId);
  expect(deployment).toMatchObject({ isLive: true });
  expect(bench.runner.ensured).toEqual([deployment?.id, deployment?.id]);
  expect(started).toMatchObject([{ endpoint: { kind: "unix" }, output: ["Hello."], bridge: "object", incomplete }]);
  // A version accesses production's data only after its inspection.
  await db.update(projectTable).set({ keepsData: true }).where(eq(projectTable.id, project.id));
  await builds.ended(await builds.start(project, "b"));
  expect(started[1]).toBeUndefined();
});

test.runIf(isThorough)(
  "BLD-2 BLD-10 a server that doesn't start where it will run leaves no deployment, and its build continues without it",
  async () => {
    const { db } = bench.database;
    const project = await seedProject(db, organization);
    const { layers, program } = goodBuild;
    const { lookUp } = bench.runner;
    const failure = { code: "start_failed", message: "It ended with status 3." } as const;
    const found: unknown[] = [];
    const tryInPlace = async (request: BuildRequest) => {
      found.push((await request.startInPlace?.({ layers, program }, request.signal)) ?? null);
      found.push(await db.$count(deploymentTable));
    };
    const failWith = (timedOut: { timedOut?: { output: string[]; late?: LateStart } }) => {
      bench.runner.lookUp = async (deploymentId) => {
        const server = await lookUp(deploymentId);
        return server && { ...server, failure: { ...failure, ...timedOut } };
      };
    };
    failWith({});
    const diagnosis = { code: "module_missing", phase: "inspect", title: "A module is missing", detail: "d" } as const;
    bench.build = async (request) => {
      await tryInPlace(request);
      const rest = { remedy: "r", file: null, line: null, excerpt: null, action: { kind: "rebuild" } } as const;
      return { ok: false, timings: {}, diagnosis: { ...diagnosis, ...rest } };
    };
    await bench.work();
    const failed = await builds.start(project, "a");
    await builds.ended(failed);
    expect(await builds.show(failed)).toMatchObject({ status: "failed", deployment: null });
    // Inspected by the build instead, it goes live as another deployment.
    const at = { file: "server.py", line: 4, name: "<module>", isOwn: true };
    const late: LateStart = { activity: "waiting", afterMs: 60_000, processorMs: 900, stack: [at] };
    failWith({ timedOut: { output: ["Loading."], late } });
    bench.build = async (request) => {
      await tryInPlace(request);
      bench.runner.lookUp = lookUp;
      return goodBuild;
    };
    const passed = await builds.start(project, "b");
    await builds.ended(passed);
    expect(await builds.show(passed)).toMatchObject({ status: "succeeded", deployment: { isLive: true } });
    // The output of a start that took too long is known without another start.
    expect(found).toEqual([null, 0, { endpoint: null, output: ["Loading."], late }, 0]);
  },
);

test.runIf(isThorough)(
  "PRJ-14 BLD-10 a promotion whose server can't be inspected where it runs is inspected like a build, which diagnoses it",
  async () => {
    const { db } = bench.database;
    const project = await seedProject(db, organization);
    await bench.work();
    await builds.ended(await builds.start(project, "live"));
    const preview = await builds.start(project, "a", "feature");
    await builds.ended(preview);
    const ctx = testContext(db, organization.owner, { queue: bench.services.queue });
    const promote = async () => {
      const { id } = await promoteDeployment({
        ctx,
        input: { deploymentId: (await builds.show(preview)).deployment?.id ?? "" },
      });
      await builds.ended(id);
      return builds.show(id);
    };
    // Where it runs it doesn't start.
    const { lookUp } = bench.runner;
    bench.runner.lookUp = async (deploymentId) => {
      const server = await lookUp(deploymentId);
      return server && { ...server, failure: { code: "start_failed", message: "It ended with status 3." } };
    };
    const endpoints: unknown[] = [];
    bench.inspect = async (_request, start) => {
      endpoints.push(await start());
      return null;
    };
    const diagnosis = {
      code: "module_missing",
      phase: "inspect",
      title: "A variable is missing",
      detail: "d",
    } as const;
    bench.build = async () => ({
      ok: false,
      timings: {},
      diagnosis: {
        ...diagnosis,
        remedy: "r",
        file: null,
        line: null,
        excerpt: null,
        action: { kind: "rebuild" },
      },
    });
    expect(await promote()).toMatchObject({ status: "failed", diagnosis: { title: "A variable is missing" } });
    expect(endpoints).toEqual([null]);
    expect(await liveCommit(db, project.branchId)).toBe(shaOf("live"));
    // With its own sign-in, it starts there, and the build reads it from inside.
    bench.runner.lookUp = lookUp;
    bench.build = async () => ({ ...goodBuild, ownSignIn: true });
    expect(await promote()).toMatchObject({ status: "succeeded", deployment: { isLive: true, isProd: true } });
  },
);

test("BLD-13 a build that a person cancels stops at its worker, and nothing goes live", async () => {
  const project = await seedProject(bench.database.db, organization);
  let [begun, stopped] = [false, false];
  bench.build = (request) =>
    new Promise((_resolve, reject) => {
      begun = true;
      request.signal.addEventListener("abort", () => {
        stopped = true;
        reject(request.signal.reason);
      });
    });
  await bench.work();
  const buildId = await builds.start(project, "a");
  await until(() => begun);
  await cancelBuild({ ctx: testContext(bench.database.db, organization.owner), input: { buildId } });
  await until(() => stopped);
  expect(await builds.show(buildId)).toMatchObject({ status: "canceled", diagnosis: null, deployment: null });
  expect(await liveCommit(bench.database.db, project.branchId)).toBeNull();
});

test.runIf(isThorough)(
  "BLD-10 a rollout waits for a runner that restarts or is full, and not for a server that keeps crashing",
  async () => {
    const project = await seedProject(bench.database.db, organization);
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
    const buildId = await builds.start(project, "a");
    await until(async () => (await builds.logOf(buildId)).includes("Waiting for the runner"));
    await bench.runner.start();
    await builds.ended(buildId);
    expect((await builds.show(buildId)).status).toBe("succeeded");
    expect(asked).toBe(failures.length + 1);

    const crashing = { code: "crash_backoff", message: "It keeps failing.", retryAfterMs: 10 } as const;
    bench.runner.lookUp = async (deploymentId) => {
      asked++;
      const server = await lookUp(deploymentId);
      return server && { ...server, failure: crashing };
    };
    const failing = await builds.start(project, "b");
    await builds.ended(failing);
    expect(await builds.show(failing)).toMatchObject({ status: "failed", diagnosis: { code: "exited_early" } });
    expect(asked).toBe(failures.length + 2);
  },
);

test("BLD-2 on every failure the live deployment stays, and the build says the cause and what to do", async () => {
  const project = await seedProject(bench.database.db, organization);
  await bench.work();
  await builds.ended(await builds.start(project, "good"));
  const server = { instanceId: "i", endpoint: { kind: "unix", path: "/nowhere" } } as const;
  const cases: readonly [string, () => void, RegExp, string?][] = [
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
            action: { kind: "code", path: "server.py" },
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
      /error in Towpath/,
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
      "rebuild",
    ],
    [
      "answer",
      () => {
        bench.runner.lookUp = () => ({ ...server, isSilent: true });
      },
      /did not answer/,
      "code",
    ],
    [
      "isolation",
      () => {
        bench.trusted = false;
      },
      /cannot isolate/,
      "operator",
    ],
  ];
  for (const [name, arrange, title, action] of cases) {
    arrange();
    const buildId = await builds.start(project, name);
    await builds.ended(buildId);
    const shown = await builds.show(buildId);
    expect(shown.status).toBe("failed");
    expect(shown.diagnosis?.title).toMatch(title);
    expect(shown.diagnosis?.remedy).not.toBe("");
    if (action) expect(shown.diagnosis?.action.kind).toBe(action);
    expect(JSON.stringify(shown)).not.toContain("secret detail");
    if (name !== "diagnosis") {
      expect(await builds.logOf(buildId)).toMatch(title);
      expect(await builds.logOf(buildId)).not.toContain("secret detail");
    }
    expect(await liveCommit(bench.database.db, project.branchId)).toBe(shaOf("good"));
  }
});
