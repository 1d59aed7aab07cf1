import { join } from "node:path";
import { openArtifacts } from "@towpath/artifacts";
import { createBuilder, defaultBuildLimits } from "@towpath/builder";
import { buildNewVersions, rebuildLostLayers } from "@towpath/core/build";
import { checkDueExternalServers } from "@towpath/core/external-server";
import { checkDueGitHubRepositories } from "@towpath/core/github-check";
import { openGitHub } from "@towpath/core/github-connection";
import { checkDueGitSources } from "@towpath/core/source";
import { openDatabase } from "@towpath/db";
import { createAddressPolicy, createCheckedFetch } from "@towpath/egress";
import { createGitRemotes, createStatePoster, openInstanceRepositories, removeLeftovers } from "@towpath/git";
import { createGitHubConnections, createRepositoryHost, type GitHubConnections } from "@towpath/github";
import { backfillRollups, foldRequestLogs, indexFinishedDays } from "@towpath/logs";
import { createMailTransport, deliverMail } from "@towpath/mail";
import { inspectExternal, reachExternal } from "@towpath/mcp/external";
import { createPackageIndex } from "@towpath/package-index";
import { openWorkerQueue } from "@towpath/queue";
import { stopLimits } from "@towpath/role";
import { createRunnerClient } from "@towpath/runner-api";
import { createSandboxDriver, processName } from "@towpath/runtime";
import { checkDatabase, createSecretBox } from "@towpath/secrets";
import type { Logger } from "pino";
import type { WorkerConfig } from "./config.ts";
import { createGitHubReporter } from "./jobs/github-reporter.ts";
import { jobConcurrency, jobHandlers } from "./jobs/jobs.ts";
import { redeliverMissedOfAll } from "./missed-deliveries.ts";
import { Disk } from "./retention/disk.ts";
import { sweepRepositories } from "./retention/repositories.ts";
import { startRetention } from "./retention/retention.ts";
import { startRounds } from "./rounds.ts";
import { jobContext, type Services } from "./services.ts";
import { sweep } from "./sweep.ts";

const sweepEveryMs = 15_000;
/** Statistics add what is not folded yet: a longer pause makes them slower, not wrong. */
const foldEveryMs = 2000;
/** How often the worker looks for a day of the request log that has ended. */
const indexEveryMs = 600_000;
/** How often the worker looks for external servers whose inspection is due; each is inspected about every ten minutes. */
const checkEveryMs = 20_000;
const checksAtOnce = 8;
/** How often each of so many rounds looks for a Git URL that is due: one that doesn't answer delays no other. */
const askEveryMs = 3_000;
const askedAtOnce = 6;
/** How often the worker asks for new versions of packages that projects follow. */
const followEveryMs = 3_600_000;
/** How often the worker packs repositories of this instance and removes those that nobody has; also at its start. */
const repositoriesEveryMs = 3_600_000;
/** How often the worker asks which webhooks GitHub could not deliver; also at its start. */
const missedEveryMs = 600_000;
const heartbeatMs = 5_000;
/** A start may wait a minute for a place, then take three times its limit on a busy host, and say why it failed. */
const runnerTimeoutMs = ({ limits }: WorkerConfig["builder"]) =>
  3 * (limits?.startMs ?? defaultBuildLimits.startMs) + 90_000;
/** The rest of the time until the process must exit is for closing connections. */
const jobsEndWithinMs = stopLimits.exitMs - 1_500;

/** How often the worker looks for live deployments whose layers are lost; also at its start. */
const rebuildEveryMs = 20_000;

export type RunningWorker = {
  /** How many servers are being built again because their layers are lost. */
  readonly rebuilding: number;
  stop(): Promise<void>;
};

/** Connects the worker's parts and takes jobs until it is stopped. Throws when the database cannot be reached. */
export async function startWorker(config: WorkerConfig, log: Logger): Promise<RunningWorker> {
  const database = openDatabase(config.databaseUrl);
  const secrets = createSecretBox(config.secrets);
  await checkDatabase(database.pool, secrets.masterKeys);
  const { dataDirectory } = config.builder;
  const artifacts = openArtifacts({ db: database.db, dataDirectory, config: config.artifacts });
  await artifacts.registerExisting();
  const { layers, store, firstRelease } = artifacts;
  const driver = createSandboxDriver({
    stateDirectory: config.runDirectory,
    instanceDirectory: `${config.runDirectory}/b`,
    layers,
    uv: config.uv,
    ...(config.downloads === undefined ? {} : { downloads: config.downloads }),
    builds: { dataDirectory, environment: config.buildEnvironment },
    ...config.isolation,
  });
  const workers = await openWorkerQueue({
    // For LISTEN.
    databaseUrl: config.directDatabaseUrl,
    onProblem: (problem) => log.warn({ err: problem }, "queue"),
  });
  const runner = createRunnerClient(config.runner, { timeoutMs: runnerTimeoutMs(config.builder) });
  const disk = new Disk({
    directory: dataDirectory,
    ...config.retention.disk,
    pythons: async () => [...(await driver.pythons())],
  });
  const delivery = {
    db: database.db,
    secrets: config.secrets,
    transport: config.mail && createMailTransport(config.mail),
  };
  const policy = createAddressPolicy(config.externalNetworks);
  // For as long as the process runs.
  const { fetch: reachGitHub } = createCheckedFetch(policy, undefined, { returnsRedirects: true });
  const loadGitHub = () =>
    openGitHub({
      ctx: jobContext(services, "github-connections"),
      input: { onProblem: (app, error) => log.error({ err: error, app }, "a GitHub App's keys can't be opened") },
    });
  const github: GitHubConnections = createGitHubConnections(config.github, loadGitHub, reachGitHub);
  const packages = createPackageIndex(config.packageIndexes);
  const gitDirectory = join(dataDirectory, "git");
  const repositories = openInstanceRepositories({
    ...{ kind: config.repositories, dataDirectory, db: database.db, store },
    onProblem: (error) => log.error({ err: error }, "a repository of this instance can't be stored"),
  });
  const services: Services = {
    database,
    queue: workers.queue,
    repositories: createRepositoryHost(github, config.dashboardUrl),
    gitRemotes: createGitRemotes({ policy, directory: gitDirectory }),
    instanceRepositories: repositories,
    gitHubReporter: createGitHubReporter(github, log),
    postState: createStatePoster({ policy }),
    builder: createBuilder(config.builder, {
      ...{ driver, layers },
      async uploadedAt(name, version, signal) {
        const { releases } = await packages.releases(name, signal);
        return releases.find((release) => release.version === version)?.uploadedAt ?? null;
      },
    }),
    packages,
    runner,
    isolation: () => driver.selfTest(),
    allowUnsandboxed: config.isolation.allowUnsandboxed,
    serverUrlTemplate: config.serverUrl,
    dashboardUrl: config.dashboardUrl,
    secrets,
    externalServers: {
      reach: (url) => reachExternal(url, { policy }),
      inspect: (target) => inspectExternal(target, { policy }),
    },
    workerName: await processName(),
    log,
    heartbeatMs,
    disk,
    deliverMail: (mailId) => deliverMail(delivery, mailId),
  };
  await removeLeftovers(gitDirectory);
  const leftovers = await services.builder.cleanScratch();
  if (leftovers > 0) log.warn({ leftovers }, "removed what killed builds left");
  const isolation = await services.isolation();
  if (!isolation.trusted) {
    const missing = isolation.checks.filter((check) => check.required && !check.ok);
    log.error({ missing, allowUnsandboxed: services.allowUnsandboxed }, "isolation cannot be set up");
  }
  await workers.work({ ...jobConcurrency(config.builds), handlers: jobHandlers(services) });
  const logError = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const rebuild = async (more: { readonly isStart?: boolean; readonly signal?: AbortSignal }) => {
    const found = await rebuildLostLayers({
      ctx: jobContext(services, "sweep"),
      input: { missing: layers.missing, ...more },
    });
    if (found.queued.length > 0) log.warn({ builds: found.queued }, "what is live and no longer stored is built again");
    return found.lost;
  };
  const rebuilding = await rebuild({ isStart: true });
  const stopRebuilding = startRounds(
    rebuildEveryMs,
    (signal) => rebuild({ signal }),
    logError("looking for lost layers failed"),
  );
  const stopSweeping = startRounds(sweepEveryMs, () => sweep(services), logError("sweep failed"));
  const stopChecking = startRounds(
    checkEveryMs,
    async (signal) => {
      const ctx = jobContext(services, "external-servers");
      while (!signal.aborted && (await checkDueExternalServers({ ctx, input: { limit: checksAtOnce } })) > 0);
    },
    logError("inspecting external servers failed"),
  );
  const stopAsking = Array.from({ length: askedAtOnce }, () =>
    startRounds(
      askEveryMs,
      async (signal) => {
        const ctx = jobContext(services, "git-sources");
        while (!signal.aborted && (await checkDueGitSources({ ctx, input: { limit: 1 } })) > 0);
      },
      logError("asking a Git URL failed"),
    ),
  );
  const stopAskingGitHub = startRounds(
    askEveryMs,
    async (signal) => {
      const ctx = jobContext(services, "github-repositories");
      const input = { limit: askedAtOnce };
      while (!signal.aborted && (await checkDueGitHubRepositories({ ctx, input })) > 0);
    },
    logError("asking GitHub for pushes failed"),
  );
  const stopFollowing = startRounds(
    followEveryMs,
    async (signal) => {
      const ctx = jobContext(services, "package-versions");
      const onProblem = (name: string, error: unknown) =>
        log.warn({ err: error, package: name }, "a package's versions can't be read");
      await buildNewVersions({ ctx, input: { signal, onProblem } });
    },
    logError("looking for new versions of packages failed"),
  );
  const stopFolding = startRounds(
    foldEveryMs,
    async (signal) => {
      do {
        while (!signal.aborted && (await foldRequestLogs(database.pool)) > 0);
      } while (!signal.aborted && (await backfillRollups(database.pool)) > 0);
    },
    logError("summing up request logs failed"),
  );
  const stopIndexing = startRounds(
    indexEveryMs,
    (signal) => indexFinishedDays(database.pool, signal),
    logError("indexing a finished day of the request log failed"),
  );
  const stopAskingForMissed = startRounds(
    missedEveryMs,
    (signal) => redeliverMissedOfAll(services, github, signal),
    logError("asking GitHub for missed deliveries failed"),
  );
  const stopSweepingRepositories = startRounds(
    repositoriesEveryMs,
    async (signal) => {
      const removed = await sweepRepositories(jobContext(services, "sweep"), repositories, signal);
      if (removed > 0) log.info({ removed }, "retention: removed repositories of this instance that nobody has");
    },
    logError("cleaning up repositories of this instance failed"),
  );
  const stopRetention = await startRetention(
    { services, config: config.retention, dataDirectory, store, firstRelease, disk },
    `${config.runDirectory}/worker.sock`,
  );
  return {
    rebuilding,
    async stop() {
      // In parallel: a sweep that waits for the database must not use up the time that jobs need to release builds.
      await Promise.all([
        stopSweeping(),
        stopRebuilding(),
        stopSweepingRepositories(),
        stopChecking(),
        ...stopAsking.map((stop) => stop()),
        stopAskingGitHub(),
        stopFollowing(),
        stopFolding(),
        stopIndexing(),
        stopAskingForMissed(),
        stopRetention(),
        workers.stop(jobsEndWithinMs),
      ]);
      await Promise.all([driver.close(), runner.close()]);
      await database.close();
    },
  };
}
