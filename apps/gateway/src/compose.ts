import type { Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { logClock } from "@towpath/db/clock";
import { drainHttpServer, listen } from "@towpath/role";
import { poolReadings, serveMetrics, spanReadings } from "@towpath/telemetry";
import type { Logger } from "pino";
import type { GatewayConfig } from "./config.ts";
import { createGateway } from "./gateway.ts";
import { createKeptCalls } from "./kept/create-kept-calls.ts";
import { createSharedLimits } from "./limits/shared-limits.ts";
import { SavedState } from "./outage/saved-state.ts";
import {
  type Base,
  createCallers,
  createEntry,
  createPortals,
  createRecord,
  createServers,
  openBase,
} from "./parts.ts";
import { gauge, Metrics, mergedMetrics } from "./platform/metrics.ts";
import { createPages, type Health } from "./platform/pages.ts";
import { createReadModel } from "./read-model/routes.ts";
import { createRouteFeed } from "./route/route-feed.ts";
import { isServed } from "./route/served-names.ts";
import { createHttpServer } from "./server.ts";
import type { News } from "./workers/news.ts";
import { noPeers, type Peers } from "./workers/peers.ts";

export type RunningGateway = {
  server: Server;
  /** The port that it listens on. */
  port: number;
  /**
   * Ends running requests within `requestsMs` and idle connections after `idleMs`, writes what is buffered and closes
   * everything.
   */
  stop: (requestsMs: number, idleMs?: number) => Promise<void>;
};

/** Composes and starts the gateway, without waiting for the database or the runner. */
export async function startGateway(
  config: GatewayConfig,
  log: Logger,
  peers: Peers = noPeers,
): Promise<RunningGateway> {
  const base = await openBase(config, log, peers);
  const gateway = await compose(base);
  const { server, feed, portals, callers, limits, record, savedState, kept } = gateway;

  // From files: after a crash, running servers are reachable again even without the database.
  await Promise.all([feed.loadSnapshot(), portals.loadSnapshot(), savedState.load()]);
  feed.start();
  const port = await listen(server, config.listen).catch((error: unknown) => Promise.reject(inUse(error, config)));
  const stopMetrics = config.metrics && (await serveMetrics(config.metrics, gateway.allMetrics, log));
  feed.listen(base.notifications);
  callers.start((isCertain) => isCertain && savedState.discard());
  limits.start();
  base.gateways.start(gateway.onNews);
  const stopValues = base.notifications.subscribe({ channel: "towpath_caller_value" }, gateway.onCallerValue);
  const stopKeptNames = kept.start();
  savedState.start();
  record.start();
  if (config.workerIndex === 0) void logClock(base.pool, "gateway", log);
  if (!base.routes.isLoaded) await base.routes.opening;

  return {
    server,
    port,
    async stop(requestsMs, idleMs = 0) {
      // The next process, which may serve already, has the metrics from now on.
      await stopMetrics?.();
      await Promise.all([drainHttpServer(server, { requestsMs, idleMs }), kept.keptCalls.stop(requestsMs)]);
      stopValues();
      stopKeptNames();
      for (const part of [feed, limits, base.gateways]) part.stop();
      await Promise.all([callers, record, savedState, gateway.servers].map((part) => part.stop()));
      // A database that hangs does not close connections either.
      const closed = Promise.all([base.notifications.close(), base.pool.end()]);
      await Promise.race([closed, sleep(500, undefined, { ref: false })]);
    },
  };
}

/** Creates all parts, each from those before it; starts none. */
async function compose(base: Base) {
  const { config, log, peers, gateways, routes, announce } = base;
  const { secret, outageMs, stateDirectory: directory, workerIndex: worker } = config;
  const record = await createRecord(base);
  const callers = createCallers(base);
  const servers = createServers(base);
  const entry = createEntry(base);
  const portals = createPortals(base);
  const kept = createKeptCalls(base, { ...record.parts, ...callers.parts, reach: portals.reach });
  const limits = createSharedLimits({ config, peers, gateways });
  const { leases, sleeping } = servers.parts;
  const savedState = new SavedState({ directory, worker, secret, outageMs, ...callers.known, leases, log });
  const feed = createRouteFeed({
    readModel: createReadModel(base.pool),
    table: routes,
    directory,
    writesSnapshot: worker === 0,
    onLoaded: () => {
      callers.parts.openResponses.closeUnrouted(routes.projects());
      const loaded = routes.all();
      void sleeping.loadAhead(loaded);
      void portals.portals.refresh(loaded);
    },
    log,
  });
  const metrics = new Metrics(worker);
  metrics.add([
    { ...gauge("routes", "Labels that are served", () => routes.size), merged: "max" },
    ...poolReadings("gateway", { main: base.pool }),
    ...spanReadings("gateway", record.exporter),
    ...servers.readings,
    ...record.readings,
    ...kept.readings,
    ...limits.readings,
    ...entry.readings,
  ]);
  const onNews = (news: News): void => {
    if (news.kind === "taken") limits.takeElsewhere(news.taken);
    else if (news.kind === "canceled") record.parts.pendingCalls.cancel(news);
    else if (news.kind === "opened") sleeping.sessions.announced(news);
    else if (news.level === null) portals.memberSessions.end(news.session);
    else portals.memberSessions.setLevel(news.session, news.level);
  };
  /** `notified`: project and person; undefined: changes may have been missed. */
  const onCallerValue = (notified?: string): void => {
    const callerId = notified?.split(" ")[1] ?? null;
    for (const part of [leases, record.parts.redactors]) part.callerChanged(callerId);
  };
  const health = (): Health => ({ ok: routes.isLoaded, routes: routes.size, database: feed.isFresh() });
  peers.onQuestion(async (question) => {
    if (question.kind === "health") return health();
    return question.kind === "metrics" ? metrics.snapshot() : onNews(question.news);
  });
  const ofAll = async <Own>(own: Own, kind: "health" | "metrics") => [own, ...((await peers.ask({ kind })) as Own[])];
  const allMetrics = async () => mergedMetrics(await ofAll(await metrics.snapshot(), "metrics"));
  const platform = createPages({
    health: () => ofAll(health(), "health"),
    metrics: allMetrics,
    isServed: async (hostName) => {
      if (routes.opening) await routes.opening;
      return isServed(config.serverAddress, routes, hostName);
    },
  });
  const handle = createGateway({
    ...entry.parts,
    ...record.parts,
    ...callers.parts,
    ...servers.parts,
    ...limits.parts,
    ...portals,
    tasks: kept.tasks,
    taskNotices: kept.taskNotices,
    announce,
    routes,
    metrics,
    platform,
    log,
  });
  const server = createHttpServer(handle, entry.connections);
  return {
    server,
    feed,
    portals: portals.portals,
    callers,
    limits,
    record,
    kept,
    servers,
    savedState,
    allMetrics,
    onNews,
    onCallerValue,
  };
}

function inUse(error: unknown, { port, host }: GatewayConfig): unknown {
  const isInUse = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  return isInUse ? new Error(`Port ${port} on ${host} is in use: choose another by TOWPATH_GATEWAY_PORT.`) : error;
}
