import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type ArtifactsConfig, checkBucket, openArtifacts } from "@towpath/artifacts";
import { createSigningKeys } from "@towpath/auth/credentials";
import { createBuilder, defaultBuildLimits } from "@towpath/builder";
import { openGitHub } from "@towpath/core/sources/github-connection";
import { openDatabase } from "@towpath/db";
import { currentRelease } from "@towpath/db/release";
import { createAddressPolicy, createCheckedFetch, createDomainNames, createWebhookPoster } from "@towpath/egress";
import { createGitRemotes, createStatePoster, openInstanceRepositories, removeLeftovers } from "@towpath/git";
import { createGitHubConnections, createRepositoryHost, type GitHubConnections } from "@towpath/github";
import { createMailSender, createMailTransport, deliverMail } from "@towpath/mail";
import { fetchFile, inspectExternal, reachExternal } from "@towpath/mcp/external";
import { createPackageIndex } from "@towpath/package-index";
import { openWorkerQueue } from "@towpath/queue";
import { startRounds, stopLimits } from "@towpath/role";
import { createRunnerClient } from "@towpath/runner-api";
import { openDriver } from "@towpath/runtime";
import { processName } from "@towpath/runtime/process";
import { checkDatabase, createSecretBox } from "@towpath/secrets";
import { addReadings, openExporter, openRegistry, poolReadings, serveMetrics, spanReadings } from "@towpath/telemetry";
import type { Logger } from "pino";
import type { WorkerConfig } from "./config.ts";
import { createGitHubReporter } from "./jobs/github-reporter.ts";
import { jobConcurrency, jobHandlers, tracedJob } from "./jobs/jobs.ts";
import { WorkerMetrics } from "./metrics.ts";
import { rebuildLost, roundsOf, scheduledHandlers } from "./recurring.ts";
import { createOpenReplayServer } from "./replay/open-replay-server.ts";
import { questionModelOf } from "./replay/question-model.ts";
import { Disk } from "./retention/disk.ts";
import { removeLostScratch } from "./retention/files.ts";
import { retentionRounds } from "./retention/retention.ts";
import { jobContext, type Services } from "./services.ts";
import { sweep } from "./sweep.ts";

const heartbeatMs = 5_000;
/** A start may wait a minute for a place and take three times its limit on a busy host before it fails. */
const runnerTimeoutMs = ({ limits }: WorkerConfig["builder"]) =>
  3 * (limits?.startMs ?? defaultBuildLimits.startMs) + 90_000;
/** The rest of the time until the process must exit is for closing connections. */
const jobsEndWithinMs = stopLimits.exitMs - 1_500;

/** Time for the last spans when the worker stops. */
const lastSpansMs = 500;

export type RunningWorker = {
  /** How many servers are being built again because their layers are lost. */
  readonly rebuilding: number;
  /** Takes no more jobs, and aborts those that have not ended after `jobsMs`: another worker takes them over. */
  stop(jobsMs: number): Promise<void>;
};

/** Connects the worker's parts and takes jobs until it is stopped. Throws when the database cannot be reached. */
export async function startWorker(config: WorkerConfig, log: Logger): Promise<RunningWorker> {
  const parts = await openParts(config, log);
  const { services, layers, workers, registry, metrics, exporter } = parts;
  const stopMetrics = await serveMetrics(config.metrics, () => registry.metrics(), log);
  await cleanUpAfterKilledWorkers(parts);
  await reportIsolation(services);
  const traced = tracedJob(services);
  await workers.work({
    ...jobConcurrency(config.builds),
    handlers: jobHandlers(services),
    around: (job, run) => metrics.aroundJob(job, () => traced(job, run)),
  });
  const rebuilding = await rebuildLost(services, { missing: layers.missing, isStart: true });
  const rounds = [...roundsOf(parts), ...retentionRounds({ ...parts, config: config.retention })];
  const stopRounds = startRounds(rounds, (name, error) => log.error({ err: error }, `${name} failed`));
  await workers.schedule(scheduledHandlers(parts));
  return {
    rebuilding,
    async stop(jobsMs) {
      // In parallel: a round that waits for the database must not use up the time that jobs need to release builds.
      await Promise.all([stopRounds(), stopMetrics(), workers.stop(jobsEndWithinMs, jobsMs)]);
      await Promise.all([parts.driver.close(), services.runner.close(), exporter?.stop(lastSpansMs)]);
      await services.database.close();
    },
  };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

async function cleanUpAfterKilledWorkers({ services, driver, dataDirectory, gitDirectory }: Parts): Promise<void> {
  const { log } = services;
  // Earlier releases kept resolutions there; now they are artifacts.
  await rm(join(dataDirectory, "cache", "resolutions"), { recursive: true, force: true });
  await removeLeftovers(gitDirectory);
  // First, so that builds of killed workers no longer count as running when their leftovers are removed.
  await sweep(services).catch((error: unknown) => log.error({ err: error }, "sweep failed"));
  const leftovers = await removeLostScratch(jobContext(services, "sweep"), driver.builds);
  if (leftovers > 0) log.warn({ leftovers }, "removed what killed builds left");
}

async function reportIsolation({ isolation, log }: Services): Promise<void> {
  const { trusted, checks, refuses, problems } = await isolation();
  if (trusted) return;
  const missing = checks.filter((check) => check.required && !check.ok);
  log.error({ missing, refuses, problems }, "isolation cannot be set up");
}

/** @throws an error that names all rights that the key of the bucket lacks */
async function checkArtifacts(config: ArtifactsConfig, log: Logger): Promise<void> {
  if (config === null) return;
  const { problems, warnings } = await checkBucket(config);
  const [refused, warned] = [problems, warnings].map((found) => found.map(({ what, remedy }) => `${what}: ${remedy}.`));
  for (const text of warned ?? []) log.warn(text);
  if (refused?.length) throw new Error(`Artifacts can't be kept in ${config.url}. ${refused.join(" ")}`);
}

async function openParts(config: WorkerConfig, log: Logger) {
  const database = openDatabase(config.databaseUrl);
  const secrets = createSecretBox(config.secrets);
  await checkDatabase(database.pool, secrets.masterKeys);
  const { dataDirectory } = config;
  const artifacts = openArtifacts({ db: database.db, dataDirectory, config: config.artifacts });
  await checkArtifacts(config.artifacts, log);
  await artifacts.registerExisting();
  const { layers, store, firstRelease } = artifacts;
  const driver = openDriver(config.driver, layers, { kind: "builds" });
  const workers = await openWorkerQueue({
    // For LISTEN.
    databaseUrl: config.directDatabaseUrl,
    onProblem: (problem) => log.warn({ err: problem }, "queue"),
  });
  const runner = createRunnerClient(config.runner, { timeoutMs: runnerTimeoutMs(config.builder) });
  const disk = new Disk(driver.host, config.retention.disk);
  const exporter = openExporter("worker", config.otlp, log);
  const registry = openRegistry({ role: "worker", release: currentRelease() });
  addReadings(registry, [...poolReadings("worker", { main: database.pool }), ...spanReadings("worker", exporter)]);
  const metrics = new WorkerMetrics(registry, database);
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
    kind: config.repositories,
    dataDirectory,
    db: database.db,
    store,
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
      driver,
      layers,
      store,
      async uploadedAt(name, version, signal) {
        const { releases } = await packages.releases(name, signal);
        return releases.find((release) => release.version === version)?.uploadedAt ?? null;
      },
    }),
    packages,
    runner,
    openReplayServer: createOpenReplayServer(
      createSigningKeys({ pool: database.pool, secret: config.secrets.current, issuer: config.dashboardUrl }),
    ),
    questionModel: questionModelOf(config.chat),
    isolation: driver.host.selfTest,
    serverUrlTemplate: config.serverUrl,
    dashboardUrl: config.dashboardUrl,
    secrets,
    externalServers: {
      reach: (url) => reachExternal(url, { policy }),
      inspect: (target) => inspectExternal(target, { policy }),
      file: (url, maxBytes) => fetchFile(url, { policy, maxBytes }),
    },
    domainNames: createDomainNames(config.dnsServers),
    workerName: await processName(),
    log,
    heartbeatMs,
    disk,
    deliverMail: (mailId) => deliverMail(delivery, mailId),
    mail: config.mail && createMailSender({ db: database.db, queue: workers.queue, secret: config.secrets.current }),
    webhooks: createWebhookPoster(policy),
    buildEnded: (ended) => metrics.buildEnded(ended),
    spans: exporter,
  };
  return {
    services,
    workers,
    driver,
    layers,
    store,
    firstRelease,
    disk,
    repositories,
    github,
    dataDirectory,
    gitDirectory,
    registry,
    metrics,
    exporter,
    backUps: {
      schedule: config.backups,
      instance: {
        databaseUrl: config.directDatabaseUrl,
        dataDirectory,
        runDirectory: config.runDirectory,
        environment: config.environment,
      },
    },
  };
}
