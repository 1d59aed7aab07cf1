import type { Server } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createApiKeyChecker,
  createGrantChecker,
  createMembershipChecker,
  createSigningKeys,
} from "@towpath/auth/credentials";
import { openNotifications } from "@towpath/db/notifications";
import { createAddressPolicy } from "@towpath/egress";
import { serveMetrics } from "@towpath/role";
import { createRunnerClient } from "@towpath/runner-api";
import { createSecretBox, guardDatabase } from "@towpath/secrets";
import pg from "pg";
import type { Logger } from "pino";
import type { GatewayConfig } from "./config.ts";
import { ExternalUpstreams } from "./external/external-upstreams.ts";
import { UpstreamCredentials } from "./external/upstream-credentials.ts";
import { createAssertIdentity } from "./forward/assertions.ts";
import { Leases } from "./forward/leases.ts";
import { SlowStart } from "./forward/slow-start.ts";
import { Upstreams } from "./forward/upstreams.ts";
import { createGateway } from "./gateway.ts";
import { createSharedLimits } from "./limits/shared-limits.ts";
import { createAuthorizationServer } from "./oauth/authorization-server.ts";
import { SavedState } from "./outage/saved-state.ts";
import { Metrics, mergedMetrics } from "./platform/metrics.ts";
import { createPages, type Health } from "./platform/pages.ts";
import { logReadings, readingsOf } from "./platform/readings.ts";
import { createRunnerMetrics } from "./platform/runner-metrics.ts";
import { createAccessTokens } from "./policy/access-tokens.ts";
import { Capacity } from "./policy/capacity.ts";
import { Connections } from "./policy/connections.ts";
import { createAuthenticate } from "./policy/credentials.ts";
import { keepCredentialsCurrent } from "./policy/current-credentials.ts";
import { OpenResponses } from "./policy/open-responses.ts";
import { createSessionIds } from "./policy/sessions.ts";
import { createMemberIds } from "./portal/member-ids.ts";
import { MemberSessions } from "./portal/member-sessions.ts";
import { Portals } from "./portal/portals.ts";
import { createNoteDecryption } from "./read-model/decryptions.ts";
import { createLoadPortals } from "./read-model/portals.ts";
import { createLoadRecordedAnswers } from "./read-model/recorded-answers.ts";
import { createReadModel } from "./read-model/routes.ts";
import { createVariableReader } from "./read-model/variables.ts";
import { PendingCalls } from "./record/pending-calls.ts";
import { Recorder } from "./record/recorder.ts";
import { Redactors } from "./record/redactors.ts";
import { RefusalLimit } from "./record/refusal-limit.ts";
import { SignIns } from "./record/sign-ins.ts";
import { maxSpoolBytes, Spool } from "./record/spool.ts";
import { createRouteFeed } from "./route/route-feed.ts";
import { RouteTable } from "./route/route-table.ts";
import { closeHttpServer, createHttpServer } from "./server.ts";
import { createSleeping } from "./sleeping/sleeping.ts";
import { SpanExporter } from "./tracing/span-exporter.ts";
import { createTracer } from "./tracing/tracer.ts";
import { noPeers, type Peers } from "./workers/peers.ts";

/** Of the gateway as a whole, besides one for each worker that listens; a worker has two at least. */
const maxDatabaseConnections = 4;

/** Longer than a database takes that is there. */
const keysWithinMs = 1000;

/** Time that the last spans have when the gateway stops. */
const lastSpansMs = 500;

export type RunningGateway = {
  server: Server;
  /** The port that it listens on. */
  port: number;
  /** Ends running requests within `graceMs`, writes what is buffered and closes everything. */
  stop: (graceMs: number) => Promise<void>;
};

/** Puts the gateway together and starts it; needs neither the database nor the runner to be there. */
export async function startGateway(
  config: GatewayConfig,
  log: Logger,
  peers: Peers = noPeers,
): Promise<RunningGateway> {
  const pool = new pg.Pool({
    connectionString: config.databaseUrl,
    max: Math.max(2, Math.ceil(maxDatabaseConnections * config.share)),
    // A database that is away must be noticed soon: rows and key checks wait meanwhile.
    connectionTimeoutMillis: 3000,
    query_timeout: 15_000,
    application_name: "towpath-gateway",
  });
  pool.on("error", (error) => log.debug({ err: error }, "an idle database connection ended"));

  const box = createSecretBox(config.secrets);
  await guardDatabase(pool, box.masterKeys, {
    withinMs: keysWithinMs,
    onWrong: (error) => {
      log.fatal({ err: error }, error.message);
      process.exit(1);
    },
  });
  const routes = new RouteTable();
  const openResponses = new OpenResponses({ pool, log, routes });
  const portals = new Portals({
    ...{ load: createLoadPortals(pool), log },
    ...{ directory: config.stateDirectory, writesSnapshot: config.workerIndex === 0 },
  });
  const memberSessions = new MemberSessions();
  const memberIds = createMemberIds(config.secret, config.secrets.previous);
  const feed = createRouteFeed({
    readModel: createReadModel(pool),
    table: routes,
    directory: config.stateDirectory,
    writesSnapshot: config.workerIndex === 0,
    onLoaded: (loaded) => {
      openResponses.closeUnrouted(new Set(loaded.map(({ projectId }) => projectId)));
      void sleeping.loadAhead(loaded);
      void portals.refresh(loaded);
    },
    log,
  });
  const { issuer, secret, serverAddress, outageMs } = config;
  const apiKeys = createApiKeyChecker(pool, { outageMs });
  const members = createMembershipChecker(pool, { outageMs });
  const grants = createGrantChecker(pool, { outageMs });
  const signingKeys = createSigningKeys({ pool, secret, issuer });
  const accessTokens = createAccessTokens(signingKeys);
  const authorizationServer = createAuthorizationServer(issuer);
  const notifications = openNotifications(config.directDatabaseUrl, {
    applicationName: "towpath-gateway-listen",
    onProblem: (error) => log.debug({ err: error }, "cannot listen to the database"),
  });
  const spool = await Spool.open(join(config.stateDirectory, "spool"), { maxBytes: maxSpoolBytes * config.share });
  const exporter =
    config.otlp && new SpanExporter({ settings: config.otlp, log, share: config.share, worker: config.workerIndex });
  const tracer = exporter && createTracer(exporter, config.otlp?.sampleRatio ?? 0);
  const recorder = new Recorder({ pool, spool, log, share: config.share, onRecorded: tracer?.end });
  const upstreams = new Upstreams();
  const externalUpstreams = new ExternalUpstreams({
    policy: createAddressPolicy(config.externalNetworks),
    answerMs: config.externalTimeoutMs,
  });
  const upstreamCredentials = new UpstreamCredentials({ box, note: createNoteDecryption(pool) });
  const runner = createRunnerClient(config.runner, { timeoutMs: config.holdMs * 2 });
  const leases = new Leases({ runner, upstreams, withoutRunnerMs: outageMs });
  const savedState = new SavedState({
    ...{ directory: config.stateDirectory, worker: config.workerIndex, secret, outageMs, log },
    ...{ apiKeys: apiKeys.cache, members: members.cache, grants: grants.cache, signingKeys, leases },
  });
  const pendingCalls = new PendingCalls((call) => recorder.record(call), {
    share: config.share,
    ...(peers.count > 0 && {
      onCanceledElsewhere: (session, requestId) => peers.ask({ kind: "canceled", session, requestId }),
    }),
  });
  const redactors = new Redactors({
    read: createVariableReader(pool, box),
    routed: () => routes.deployments(),
    share: config.share,
    log,
  });
  const refusalLimit = new RefusalLimit({ share: config.share });
  const { proxies } = config.connections;
  const signIns = new SignIns({ pool, address: serverAddress, proxies, share: config.share, log });
  const metrics = new Metrics(config.workerIndex);
  const sessionIds = createSessionIds(config.secret, config.secrets.previous);
  const load = createLoadRecordedAnswers(pool);
  const sleeping = createSleeping({ load, log, share: config.share, leases, sessionIds, peers });
  const connections = new Connections(config.connections);
  const capacity = new Capacity(config.capacity);
  const shared = createSharedLimits({ config, peers, pool, notifications });
  metrics.add([
    { name: "routes", help: "Labels that are served", kind: "gauge", read: () => routes.size, merged: "max" },
    ...sleeping.readings,
    ...readingsOf({ config, leases, upstreams, externalUpstreams, connections, capacity, pendingCalls }),
    ...shared.readings,
    ...logReadings({ recorder, refusalLimit, spool }),
    ...(exporter?.readings ?? []),
  ]);
  const health = (): Health => ({ ok: routes.isLoaded, routes: routes.size, database: feed.isFresh() });
  const ofAll = async <Own>(own: Own, kind: "health" | "metrics") =>
    peers.count > 0 ? [own, ...((await peers.ask({ kind })) as Own[])] : [own];
  peers.onQuestion(async (question) => {
    switch (question.kind) {
      case "health":
        return health();
      case "metrics":
        return metrics.snapshot();
      case "canceled":
        return pendingCalls.cancel(question.session, question.requestId);
      case "opened":
        return sleeping.sessions.heard(question);
      case "portal-session":
        if (question.level === null) return memberSessions.end(question.session);
        return memberSessions.setLevel(question.session, question.level);
    }
  });
  const runnerMetrics = createRunnerMetrics(runner);
  const allMetrics = async () => {
    const [all, more] = await Promise.all([ofAll(await metrics.snapshot(), "metrics"), runnerMetrics()]);
    return mergedMetrics(all, more);
  };
  const platform = createPages({ health: () => ofAll(health(), "health"), metrics: allMetrics });

  const server = createHttpServer(
    createGateway({
      serverAddress,
      dashboard: issuer,
      authorizationServer,
      allowedOrigins: config.allowedOrigins,
      holdMs: config.holdMs,
      routes,
      authenticate: createAuthenticate({ apiKeys, members, accessTokens, grants, serverAddress, signingKeys }),
      assertIdentity: createAssertIdentity(signingKeys, serverAddress),
      openResponses,
      ...shared.policies,
      capacity,
      proxies,
      sessionIds,
      sleeping,
      leases,
      slowStart: new SlowStart(),
      externalUpstreams,
      upstreamCredentials,
      portals,
      memberSessions,
      memberIds,
      peers,
      pendingCalls,
      recorder,
      redactors,
      refusalLimit,
      signIns,
      metrics,
      tracer,
      platform,
      log,
    }),
    connections,
  );

  // From files: after a crash, running servers are served again although the database is away.
  await Promise.all([feed.loadSnapshot(), portals.loadSnapshot(), savedState.load()]);
  feed.start();
  const port = await listen(server, config);
  const stopMetrics = config.metrics && (await serveMetrics(config.metrics, allMetrics));
  notifications.subscribe({ channel: "towpath_route" }, () => void feed.reload());
  const stopCredentials = keepCredentialsCurrent({ apiKeys, members, grants }, notifications, (isCertain) => {
    if (isCertain) savedState.discard();
    void openResponses.check();
  });
  shared.start();
  savedState.start();
  recorder.start();
  openResponses.start();
  if (!routes.isLoaded) await routes.opening;

  return {
    server,
    port,
    async stop(graceMs) {
      await closeHttpServer(server, graceMs);
      feed.stop();
      openResponses.stop();
      shared.stop();
      pendingCalls.stop();
      leases.stop();
      redactors.stop();
      stopCredentials();
      await Promise.all([
        recorder.stop(),
        savedState.stop(),
        signIns.stop(),
        stopMetrics?.(),
        exporter?.stop(lastSpansMs),
        upstreams.destroy(),
        externalUpstreams.destroy(),
        runner.close(),
        authorizationServer.close(),
      ]);
      // A database that hangs does not answer a goodbye either.
      await Promise.race([Promise.all([notifications.close(), pool.end()]), sleep(500, undefined, { ref: false })]);
    },
  };
}

function listen(server: Server, { host, port }: GatewayConfig): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const inUse = error.code === "EADDRINUSE";
      reject(inUse ? new Error(`Port ${port} on ${host} is in use: choose another by TOWPATH_GATEWAY_PORT.`) : error);
    });
    server.listen(port, host, 4096, () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}
