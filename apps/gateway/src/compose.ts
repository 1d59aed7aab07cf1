import type { Server } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apiKeyChannel, createApiKeyChecker, createMembershipChecker } from "@towpath/auth/credentials";
import { openNotifications } from "@towpath/db/notifications";
import pg from "pg";
import type { Logger } from "pino";
import type { GatewayConfig } from "./config.ts";
import { Leases } from "./forward/leases.ts";
import { createRunnerClient } from "./forward/runner-client.ts";
import { Upstreams } from "./forward/upstreams.ts";
import { createGateway } from "./gateway.ts";
import { Counters } from "./platform/counters.ts";
import { createPages } from "./platform/pages.ts";
import { Capacity } from "./police/capacity.ts";
import { Connections } from "./police/connections.ts";
import { createAuthenticate } from "./police/credentials.ts";
import { OpenAnswers } from "./police/open-answers.ts";
import { createSessionIds } from "./police/session-ids.ts";
import { createReadModel } from "./read-model/routes.ts";
import { OpenCalls } from "./record/open-calls.ts";
import { Recorder } from "./record/recorder.ts";
import { RefusedRows } from "./record/refused-rows.ts";
import { rowsOf } from "./record/rows.ts";
import { Spool } from "./record/spool.ts";
import { createRouteFeed } from "./route/route-feed.ts";
import { RouteTable } from "./route/route-table.ts";
import { closeHttpServer, createHttpServer } from "./server.ts";

export type RunningGateway = {
  server: Server;
  /** The port that it listens on. */
  port: number;
  /** Ends running requests within `graceMs`, writes what is buffered and closes everything. */
  stop: (graceMs: number) => Promise<void>;
};

/** Puts the gateway together and starts it; needs neither the database nor the runner to be there. */
export async function startGateway(config: GatewayConfig, log: Logger): Promise<RunningGateway> {
  const pool = new pg.Pool({
    connectionString: config.databaseUrl,
    max: 4,
    // A database that is away must be noticed soon: rows and key checks wait meanwhile.
    connectionTimeoutMillis: 3000,
    query_timeout: 15_000,
    application_name: "towpath-gateway",
  });
  pool.on("error", (error) => log.debug({ err: error }, "an idle database connection ended"));

  const routes = new RouteTable();
  const feed = createRouteFeed({
    readModel: createReadModel(pool),
    table: routes,
    directory: config.stateDirectory,
    log,
  });
  const apiKeys = createApiKeyChecker(pool);
  const openAnswers = new OpenAnswers(pool, log);
  const keysChanged = () => {
    apiKeys.forget();
    void openAnswers.check();
  };
  const notifications = openNotifications(config.directDatabaseUrl, {
    applicationName: "towpath-gateway-listen",
    onProblem: (error) => log.debug({ err: error }, "cannot listen to the database"),
  });
  const spool = new Spool(join(config.stateDirectory, "spool"));
  const recorder = new Recorder({ pool, spool, log });
  const upstreams = new Upstreams();
  const runner = createRunnerClient(config.runnerSocket, config.holdMs * 2);
  const leases = new Leases({ runner, upstreams });
  const openCalls = new OpenCalls((call) => {
    for (const row of rowsOf(call)) recorder.add(row);
  });
  const refusedRows = new RefusedRows();
  const counters = new Counters();
  const connections = new Connections(config.connections);
  const capacity = new Capacity(config.capacity);
  const platform = createPages({
    health: () => ({ ok: routes.isLoaded, detail: { routes: routes.size, database: feed.isFresh() } }),
    metrics: () =>
      counters.render({
        towpath_gateway_routes: routes.size,
        towpath_gateway_leases: leases.count,
        towpath_gateway_connections: connections.count,
        towpath_gateway_connections_max: config.connections.maxConnections,
        towpath_gateway_connections_refused: connections.refused,
        towpath_gateway_connections_evicted: connections.evicted,
        towpath_gateway_requests_open: capacity.requests,
        towpath_gateway_body_bytes: capacity.bodyBytes,
        towpath_gateway_body_bytes_max: config.capacity.maxBodyBytes,
        towpath_gateway_upstreams: upstreams.count,
        towpath_gateway_log_rows_written: recorder.counters.written,
        towpath_gateway_log_rows_spooled: recorder.counters.spooled,
        towpath_gateway_log_rows_dropped: recorder.counters.dropped,
        towpath_gateway_log_rows_refused: recorder.counters.refused,
        towpath_gateway_log_rows_held: recorder.held,
        towpath_gateway_log_rows_left_out: refusedRows.leftOut,
        towpath_gateway_spool_bytes: spool.bytes,
      }),
  });

  const server = createHttpServer(
    createGateway({
      serverAddress: config.serverAddress,
      allowedOrigins: config.allowedOrigins,
      holdMs: config.holdMs,
      routes,
      authenticate: createAuthenticate({ apiKeys, isMember: createMembershipChecker(pool), secret: config.secret }),
      openAnswers,
      capacity,
      proxies: config.connections.proxies,
      sessionIds: createSessionIds(config.secret),
      leases,
      openCalls,
      recorder,
      refusedRows,
      counters,
      platform,
      log,
    }),
    connections,
  );

  // From files: after a crash, running servers are served again although the database is away.
  await feed.loadSnapshot();
  feed.start();
  const port = await listen(server, config);
  notifications.subscribe({ channel: "towpath_route" }, () => void feed.reload());
  notifications.subscribe({ channel: apiKeyChannel }, keysChanged);
  recorder.start();
  openAnswers.start();
  if (!routes.isLoaded) await routes.opening;

  return {
    server,
    port,
    async stop(graceMs) {
      await closeHttpServer(server, graceMs);
      feed.stop();
      openAnswers.stop();
      openCalls.stop();
      leases.stop();
      await Promise.all([recorder.stop(), upstreams.destroy(), runner.close()]);
      // A database that hangs does not answer a goodbye either.
      await Promise.race([Promise.all([notifications.close(), pool.end()]), sleep(1000, undefined, { ref: false })]);
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
