import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openArtifacts } from "@towpath/artifacts";
import { type DatabaseClient, openDatabase } from "@towpath/db";
import { currentRelease } from "@towpath/db/release";
import { writeServerLogs } from "@towpath/logs";
import { startRounds } from "@towpath/role";
import {
  type AroundCall,
  assertNoRunner,
  createRunnerApi,
  partsOf,
  type RunnerAddress,
  RunnerError,
  type RunnerHandlers,
} from "@towpath/runner-api";
import { claimServers, openDriver, type RunnerIdentity, type RuntimeDriver } from "@towpath/runtime";
import { checkDatabase, createSecretBox, readCallerValues, versionsOf } from "@towpath/secrets";
import { createRedactor } from "@towpath/secrets/redaction";
import { addReadings, openExporter, openRegistry, poolReadings, serveMetrics, spanReadings } from "@towpath/telemetry";
import { type SpanSink, startTrace } from "@towpath/telemetry/trace";
import type { Logger } from "pino";
import type { RunnerConfig } from "./config.ts";
import { cachingReader } from "./deployments/caching-reader.ts";
import { requireValues, stampOf } from "./deployments/caller-values.ts";
import {
  deploymentUses,
  existingDeployments,
  nextRebuild,
  readDeployment,
  recentlyRun,
} from "./deployments/deployment.store.ts";
import { interpreterOf, keptDataOf, serverOfDeployment } from "./deployments/server-of-deployment.ts";
import { adoptInstances, memoOf } from "./instances/adopt.ts";
import { instanceStore } from "./instances/instance.store.ts";
import { InstancePool } from "./instances/instance-pool.ts";
import { createInstanceRecord } from "./instances/instance-record.ts";
import { layersInUse } from "./layers-in-use.ts";
import { LineSpool } from "./logs/line-spool.ts";
import { serverLog } from "./logs/server-log.ts";
import { createServerLogWriter } from "./logs/server-log-writer.ts";
import { takeOverLines } from "./logs/taken-over-lines.ts";
import { RunnerMetrics } from "./metrics.ts";
import { watchNeeds } from "./needs.ts";
import { createNoPlaceAlert } from "./places/no-place-alert.ts";
import { budgetOf, Places } from "./places/places.ts";
import { prewarmBytes } from "./prewarm/plan.ts";
import { PrewarmPool } from "./prewarm/prewarm-pool.ts";
import { logsIsolation, roundsOf } from "./rounds.ts";

const closeWithinMs = 1500;
/** Its statements take milliseconds. */
const databaseSilenceMs = 15_000;
/** Time for the last spans when the runner stops. */
const lastSpansMs = 500;

export type Runner = {
  readonly address: RunnerAddress;
  /** Ends all servers. */
  close(): Promise<void>;
  /** Leaves servers running for the next runner. End the process afterwards. */
  leave(): Promise<void>;
};

/** Wires the runner and serves its API. `driver` is for tests. */
export async function startRunner(config: RunnerConfig, log: Logger, driver?: RuntimeDriver): Promise<Runner> {
  const complain = (what: string) => (error: unknown) => log.warn({ err: error }, what);
  await mkdir(config.runDirectory, { recursive: true, mode: 0o700 });
  // First: a second runner would end the rows of the first.
  await assertNoRunner(config.address);
  const database = openDatabase(config.databaseUrl, { maxConnections: 5, silenceMs: databaseSilenceMs });
  const secrets = createSecretBox(config.secrets);
  // Before it takes the servers: a release that must not work on this database leaves them to the one that may.
  await checkDatabase(database.pool, secrets.masterKeys);
  const api = createRunnerApi(complain("a request failed"));
  let listening: RunnerAddress | null = null;
  const identity = await claimServers(config.driver, async () => {
    log.info("waiting for the lease, which another runner has");
    // A cluster asks for its health.
    listening = await api.listen(config.address);
  });
  const runtime = driver ?? openServerDriver(config, database, identity, log);
  const { servers, host } = runtime;
  const exporter = openExporter("runner", config.otlp, log);
  const registry = openRegistry({ role: "runner", release: currentRelease() });
  addReadings(registry, [...poolReadings("runner", { main: database.pool }), ...spanReadings("runner", exporter)]);
  const metrics = new RunnerMetrics(registry);
  const store = instanceStore(database.db, identity);
  const record = metrics.watching(createInstanceRecord(store, complain("an instance could not be recorded")));
  const spool = new LineSpool(join(config.runDirectory, "lines"), complain("server-log lines cannot be kept on disk"));
  const lines = createServerLogWriter(
    async (rows) => {
      await runtime.sure?.();
      return await writeServerLogs(database.pool, rows);
    },
    complain("server-log lines could not be written"),
    spool,
  );
  const deployments = cachingReader((id) => readDeployment(database, id), complain("the database is unavailable"));
  const readValues = cachingReader((server) => {
    const { deploymentId, callerId } = partsOf(server);
    return callerId === null
      ? Promise.resolve(null)
      : readCallerValues(database.pool, { deploymentId, userId: callerId });
  }, complain("the database is unavailable"));
  const requireDeployment = async (deploymentId: string) => {
    const deployment = await deployments(deploymentId);
    if (deployment === null) throw new RunnerError("not_found", "There is no such deployment.");
    return deployment;
  };
  const budget = budgetOf(config.budget, host.capacity);
  const alertRefused = createNoPlaceAlert({
    db: database.db,
    projectOf: async (server) => (await requireDeployment(partsOf(server).deploymentId)).projectId,
    onProblem: complain("an alert could not be raised"),
  });
  const places = new Places(budget, config.placeWaitMs, alertRefused);
  const prewarm = new PrewarmPool({
    driver: servers,
    maxBytes: prewarmBytes(config.prewarmShare, budget, runtime),
    keepMs: config.prewarmForMs,
    freeBytes: () => budget.memoryBytes - places.memoryBytes,
    isBusy: () => places.isStarting,
    assumedBytes: budget.startReserveBytes,
    startTimeoutMs: config.timing.startTimeoutMs,
    existing: (ids) => existingDeployments(database.db, ids),
    onError: complain("an interpreter could not be prewarmed"),
  });
  const pool = new InstancePool({
    start: metrics.counted((server, spec, onOutput) => prewarm.start(server, spec, onOutput)),
    timing: config.timing,
    places,
    record,
    onError: complain("a server could not be started"),
    uses: (ids) => deploymentUses(database.db, ids),
    nextRebuild: (id) => nextRebuild(database.db, id),
    async owner(server) {
      const { deploymentId, callerId } = partsOf(server);
      const { organizationId, projectId, callerInstances: most } = await requireDeployment(deploymentId);
      return { organizationId, callers: callerId === null ? null : { projectId, most } };
    },
    valuesStamp: async (server) => stampOf(requireValues(await readValues(server))),
    async open(key) {
      const { deploymentId, callerId } = partsOf(key);
      const deployment = await requireDeployment(deploymentId);
      const own = callerId === null ? null : requireValues(await readValues(key));
      const sources = { serverUrl: config.serverUrl, limits: config.limits, box: secrets };
      const { server, secrets: values } = serverOfDeployment(deployment, sources, own);
      const redactor = createRedactor(values);
      const ids = { projectId: deployment.projectId, deploymentId };
      record.decrypted({ ...deployment, callerId: null, versions: versionsOf(deployment.stored) });
      if (own) record.decrypted({ ...deployment, callerId, versions: versionsOf(own.stored) });
      const valuesStamp = own && stampOf(own);
      const memo = memoOf(deployment, { callerId, valuesStamp }, server.limits, values);
      const log = serverLog(ids, lines.push, redactor);
      const opened = { server, label: deployment.slug, log, redact: redactor.text, memo };
      return valuesStamp === null ? opened : { ...opened, valuesStamp };
    },
  });
  // Before the servers continue to print.
  const takenOver = await takeOverLines(database.pool, spool, lines.push);
  const found = await adoptInstances({ driver: servers, store, record, pool, pushLine: lines.push, lines: takenOver });
  const { adopted, interrupted } = found;
  if (adopted + interrupted.length > 0)
    log.info({ adopted, interrupted: interrupted.length }, "took over the servers of the previous runner");
  // After the adoption, which would end the self-test's sandboxes as leftovers.
  const onIsolation = logsIsolation(log);
  const tested = host.selfTest().then(onIsolation);
  tested.catch(complain("the isolation of this host could not be tested"));
  void expectRecent(database, prewarm, config).catch(complain("recent servers could not be read"));
  metrics.read({ places, prewarm, lines });
  const stopMetrics = await serveMetrics(config.metrics, () => registry.metrics(), log);
  api.serve(handlersOf(pool, prewarm, host.selfTest), (call, run) =>
    metrics.aroundCall(call, () => traced(exporter, call, run)),
  );
  const address: RunnerAddress = listening ?? (await api.listen(config.address));
  if (address.kind === "tcp") runtime.lead?.(address.port, complain("callers can't be led to this runner"));
  pool.startAgain(interrupted);
  const inUse = () => layersInUse(pool, prewarm, deployments);
  const needs = watchNeeds({ database, artifacts: config.artifacts, data: host.data, log });
  const rounds = roundsOf({ db: database.db, driver: runtime, layersInUse: inUse, onIsolation, needs });
  const stopRounds = startRounds(rounds, (name, error) => complain(`${name} failed`)(error));
  /** Writes the buffers. After the servers: these wait for the database. */
  const endRecords = async () => {
    await Promise.all([stopRounds(), stopMetrics(), record.close(closeWithinMs), lines.close(closeWithinMs)]);
    await exporter?.stop(lastSpansMs);
    await database.close();
  };
  return {
    address,
    async leave() {
      void api.close();
      // Waiting callers ask the next runner.
      api.destroy();
      // Last, as the next runner reads what this one has written.
      await endRecords();
      await runtime.leave?.().catch(complain("the servers could not be handed over"));
    },
    async close() {
      void api.close();
      // Concurrently: the pool's close waits for servers that are starting, which the driver's close ends.
      const stopped = Promise.all([pool.close(), prewarm.close()]);
      await Promise.race([
        stopped,
        new Promise((resolve) => setTimeout(resolve, config.timing.hurriedGraceMs + 500).unref()),
      ]);
      await runtime.close();
      await stopped;
      api.destroy();
      await endRecords();
    },
  };
}

/** A call of a trace is a span of it, if it had to start or wake something. */
const traced = <Answer>(
  spans: SpanSink | null,
  { name, traceparent }: Parameters<AroundCall>[0],
  run: () => Promise<Answer>,
): Promise<Answer> =>
  traceparent === null
    ? run()
    : startTrace(spans, { name: `runner ${name}`, kind: "server", traceparent, onlyIfCausing: true }, run);

const maxRecent = 100;

/** Prewarms for servers that ran recently, because their next start is the most likely one. */
async function expectRecent(
  database: DatabaseClient,
  prewarm: PrewarmPool,
  { limits, prewarmForMs }: RunnerConfig,
): Promise<void> {
  for (const { deploymentId, ranAt } of await recentlyRun(database.db, {
    since: new Date(Date.now() - prewarmForMs),
    limit: maxRecent,
  })) {
    const deployment = await readDeployment(database, deploymentId);
    if (deployment === null || keptDataOf(deployment).dataVolume !== undefined) continue;
    const { organizationId, slug: label } = deployment;
    prewarm.expect({ organizationId, label, deploymentId }, interpreterOf(deployment, limits), ranAt);
  }
}

function handlersOf(
  pool: InstancePool,
  prewarm: PrewarmPool,
  isolation: RuntimeDriver["host"]["selfTest"],
): RunnerHandlers {
  return {
    ensure: ({ server }) => pool.lease(server),
    verify: ({ server }) => pool.verify(server),
    async stop({ server }) {
      await pool.stop(server);
      return {};
    },
    isRunning: async ({ server, instanceId }) => ({ isRunning: await pool.isRunning(server, instanceId) }),
    state: async ({ server }) => ({ state: await pool.state(server) }),
    list: async () => ({ instances: await pool.list() }),
    isolation,
    prewarm: async () => prewarm.report(),
    health: async () => ({ status: "ok" }),
  };
}

/** Servers survive this process unless it shuts down properly. */
function openServerDriver(
  { driver, dataDirectory, artifacts, adoptWithinMs }: RunnerConfig,
  { db }: DatabaseClient,
  identity: RunnerIdentity,
  log: Logger,
): RuntimeDriver {
  const { layers } = openArtifacts({ db, dataDirectory, config: artifacts });
  const onSuperseded = () => {
    log.fatal("a newer runner has taken over the servers");
    process.exit(1);
  };
  return openDriver(driver, layers, { kind: "servers", identity, adoptWithinMs, onSuperseded });
}
