import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Builder, BuildRequest, BuildResult } from "@towpath/builder";
import { getBuild, startBuild } from "@towpath/core/delivery/build";
import type { CheckReport } from "@towpath/core/delivery/report";
import {
  memoryRepositories,
  type SeededOrganization,
  seedOrganization,
  shaOf,
  testContext,
} from "@towpath/core/testing";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { createAddressPolicy, createDomainNames, createWebhookPoster } from "@towpath/egress";
import { openRepositories } from "@towpath/git";
import { readBuildLog } from "@towpath/logs";
import { openWorkerQueue, type WorkerQueue } from "@towpath/queue";
import { createRunnerClient, type RunnerClient } from "@towpath/runner-api";
import { createRunnerStandIn, type RunnerStandIn } from "@towpath/runner-api/testing";
import { shortDirectory } from "@towpath/runtime/testing";
import { createSecretBox } from "@towpath/secrets";
import pino from "pino";
import { jobConcurrency, jobHandlers } from "../jobs/jobs.ts";
import type { Services } from "../services.ts";

export const goodBuild: Extract<BuildResult, { ok: true }> = {
  ok: true,
  layers: { pythonVersion: "3.12.1", dependencies: "a".repeat(64), code: "b".repeat(64) },
  resolution: null,
  program: { entrypoint: "echo.py", arguments: [] },
  manifest: {
    protocolVersion: "2025-06-18",
    server: { name: "echo", version: "1" },
    instructions: null,
    tools: [],
    resources: [],
    templates: [],
    prompts: [],
  },
  icons: [],
  recording: null,
  warnings: [],
  ownSignIn: false,
  timings: { fetch: 1, install: 2 },
};

const rootSecret = "a root secret for tests, at least 32 characters";

/** Dependencies of the jobs. Queue and database are real; tests may replace the rest. */
export type Bench = {
  readonly database: TestDatabase;
  readonly services: Services;
  readonly workers: WorkerQueue;
  /** The builder; succeeds by default. */
  build: (request: BuildRequest) => Promise<BuildResult>;
  /** The builder's inspection of a started server; null by default. */
  inspect: Builder["inspect"];
  /** Starts every deployment's server, unless a test replaces its `lookUp`. */
  readonly runner: RunnerStandIn;
  /** Branch → head at GitHub. */
  readonly heads: Map<string, string>;
  /** What was reported to GitHub of commits, oldest first. */
  readonly checks: CheckReport[];
  gitHubIsDown: boolean;
  trusted: boolean;
  diskIsLow: boolean;
  readonly work: (maxBuilds?: number, maxBuildsPerOrganization?: number) => Promise<void>;
  close(): Promise<void>;
};

const unasked: Services["gitRemotes"] = {
  open: () => {
    throw new Error("these tests have no Git URLs");
  },
};

const noRepositories = openRepositories({ directory: "/nowhere" });

/**
 * Parts that tests can provide: the reader of Git URLs and the poster of their build states (absent by default),
 * repositories of this instance, and GitHub.
 */
type Given = Partial<
  Pick<Services, "gitRemotes" | "instanceRepositories" | "postState" | "repositories" | "gitHubReporter">
>;

export async function openBench(given: Given = {}): Promise<Bench> {
  const database = await createTestDatabase();
  const directory = await shortDirectory();
  const runner = createRunnerStandIn({ kind: "unix", path: join(directory, "runner.sock") });
  runner.lookUp = () => ({ instanceId: "i", endpoint: { kind: "unix", path: join(directory, "mcp.sock") } });
  await runner.start();
  const client = createRunnerClient(runner.address, { timeoutMs: 20_000 });
  const workers = await openWorkerQueue({ databaseUrl: database.url, onProblem: () => {} });
  const bench: Bench = {
    database,
    services: { ...servicesOf(() => bench, database, workers, client), ...given },
    workers,
    build: async () => goodBuild,
    inspect: async () => null,
    runner,
    heads: new Map(),
    checks: [],
    gitHubIsDown: false,
    trusted: true,
    diskIsLow: false,
    work: (maxBuilds = 2, maxBuildsPerOrganization = maxBuilds) =>
      workers.work({
        ...jobConcurrency({ maxBuilds, maxBuildsPerOrganization }),
        handlers: jobHandlers(bench.services),
      }),
    async close() {
      await workers.stop(2000);
      await client.close();
      await runner.stop();
      await database.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return bench;
}

const diskWith = (low: boolean) => ({
  totalBytes: 100,
  freeBytes: low ? 1 : 50,
  availableBytes: low ? 1 : 50,
  reserveBytes: 10,
  low,
  kinds: {},
});

function servicesOf(bench: () => Bench, database: TestDatabase, workers: WorkerQueue, runner: RunnerClient): Services {
  const builder: Builder = {
    build: (request) => bench().build(request),
    inspect: (request, start) => bench().inspect(request, start),
  };
  return {
    database,
    queue: workers.queue,
    packages: { releases: async (name) => ({ name, releases: [] }) },
    repositories: memoryRepositories(
      {},
      {
        branch: async ({ branch, installationIds: [installationId = 0] }) => ({
          kind: "seen",
          defaultBranch: "main",
          changedPaths: null,
          pullRequests: [],
          github: { installationId, fullName: "acme/echo", private: false },
          head: { sha: bench().heads.get(branch) ?? "", message: `Head of ${branch}`, author: "Ada" },
        }),
      },
    ),
    gitHubReporter: {
      check: async (_to, report) => {
        if (bench().gitHubIsDown) throw new Error("GitHub is unreachable");
        return bench().checks.push(report);
      },
      deployment: async () => 1,
      endDeployment: async () => {},
      comment: async () => 1,
    },
    gitRemotes: unasked,
    instanceRepositories: noRepositories,
    postState: async () => Promise.reject(new Error("these tests post no states of builds")),
    externalServers: {
      reach: async () => Promise.reject(new Error("these tests reach no external servers")),
      inspect: async () => Promise.reject(new Error("these tests inspect no external servers")),
      file: async () => Promise.reject(new Error("these tests read no files of servers")),
    },
    domainNames: createDomainNames([]),
    mail: null,
    webhooks: createWebhookPoster(createAddressPolicy([])),
    openReplayServer: () => ({
      ask: () => Promise.reject(new Error("these tests replay no calls")),
      close: async () => {},
    }),
    questionModel: null,
    deliverMail: async () => Promise.reject(new Error("these tests send no mail")),
    builder,
    runner,
    isolation: async () => ({
      checks: [{ name: "user namespaces", ok: bench().trusted, required: true, detail: "switched off" }],
      isolatedBy: bench().trusted ? "bubblewrap" : "none",
      trusted: bench().trusted,
      refuses: !bench().trusted,
      exceptions: [],
      problems: [],
    }),
    serverUrlTemplate: "http://localhost:8080/{name}",
    dashboardUrl: "http://localhost:3000",
    secrets: createSecretBox({ current: rootSecret, previous: [] }),
    log: pino({ level: "silent" }),
    heartbeatMs: 100,
    workerName: "the worker of this test",
    disk: { look: async () => diskWith(bench().diskIsLow) },
    buildEnded: () => {},
    spans: null,
  };
}

export type Builds = ReturnType<typeof buildsOf>;

/** Operations of tests on the builds of an organization. */
export function buildsOf(bench: Bench, organization: SeededOrganization) {
  const context = () => testContext(bench.database.db, organization.owner, { queue: bench.services.queue });
  const show = (buildId: string) => getBuild({ ctx: context(), input: { buildId } });
  return {
    /** Starts a build of the commit with the hash of this name; returns the build's id. */
    async start(project: { readonly name: string }, commit: string, branch = "main"): Promise<string> {
      const input = { orgSlug: organization.slug, projectName: project.name, branch, commitSha: shaOf(commit) };
      return (await startBuild({ ctx: context(), input })).build.id;
    },
    show,
    ended: (buildId: string) => until(async () => !["queued", "building"].includes((await show(buildId)).status)),
    async logOf(buildId: string): Promise<string> {
      const lines = await readBuildLog(bench.database.pool, { buildId });
      return lines.map((line) => `${line.phase} ${line.kind} ${line.text}`).join("\n");
    },
  };
}

/** A bench with an organization and operations on its builds. */
export async function openBuilds() {
  const bench = await openBench();
  const organization = await seedOrganization(bench.database.db);
  return { bench, organization, builds: buildsOf(bench, organization) };
}

/** Polls until `what` is true, ever more slowly: polling the database competes with the awaited work. */
export async function until(what: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (let pauseMs = 20; !(await what()); pauseMs = Math.min(pauseMs * 1.4, 100)) {
    if (Date.now() > end) throw new Error(`not true within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
