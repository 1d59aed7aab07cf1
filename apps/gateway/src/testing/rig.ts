import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSigningKeys, type SigningKeys } from "@towpath/auth/credentials";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import type { Rate } from "@towpath/limits";
import { queryRequestLogs, type RequestLogDetail, readRequestLog } from "@towpath/logs";
import { createRunnerStandIn, type RunnerStandIn } from "@towpath/runner-api/testing";
import pino from "pino";
import { afterAll, beforeAll } from "vitest";
import { type RunningGateway, startGateway } from "../compose.ts";
import { type GatewayConfig, readConfig } from "../config.ts";
import type { Access, Route } from "../read-model/routes.ts";
import { startUnixServer, type UnixServer } from "./unix-server.ts";

export const secret = "a secret of the test rig, 32 characters";

export type DeployedServer = {
  label: string;
  organizationId: string;
  projectId: string;
  branchId: string;
  deploymentId: string;
  upstream: UnixServer;
  /** http://127.0.0.1:<port>/<label>/mcp */
  url: URL;
};

/** A gateway in this process with a real database, a runner stand-in and servers on unix sockets. */
export type Rig = {
  database: TestDatabase;
  runner: RunnerStandIn;
  /** TOWPATH_RUN_DIR, where the runner's socket is. */
  runDirectory: string;
  config: GatewayConfig;
  /** Signs what this instance issues, as web does. */
  signingKeys: SigningKeys;
  gateway: RunningGateway;
  /** Adds project, deployment and route, and a server that runs `listener`. */
  deploy: (listener: RequestListener, options?: ServerOptions) => Promise<DeployedServer>;
  /** Rows of a project once there are `count`, newest first. */
  rows: (projectId: string, count: number, withinMs?: number) => Promise<RequestLogDetail[]>;
  restart: (change?: Partial<GatewayConfig>) => Promise<void>;
  close: () => Promise<void>;
};

export async function createRig(environment: Record<string, string> = {}): Promise<Rig> {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "tp-gw-"));
  const runner = createRunnerStandIn({ kind: "unix", path: join(directory, "runner.sock") });
  await runner.start();
  const config = readConfig({
    DATABASE_URL: database.url,
    TOWPATH_DATA_DIR: directory,
    TOWPATH_RUN_DIR: directory,
    TOWPATH_SECRET: secret,
    TOWPATH_LOG_LEVEL: "silent",
    TOWPATH_GATEWAY_PORT: "0",
    TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
    ...environment,
  });
  const log = pino({ level: config.logLevel });
  const upstreams: UnixServer[] = [];

  const rig: Rig = {
    database,
    runner,
    runDirectory: directory,
    config,
    signingKeys: createSigningKeys({ pool: database.pool, secret, issuer: config.issuer }),
    gateway: await startGateway(config, log),
    async deploy(listener, options = {}) {
      const upstream = await startUnixServer(listener);
      upstreams.push(upstream);
      const server = await insertServer(database, options);
      runner.servers.set(server.deploymentId, { instanceId: randomUUID(), endpoint: upstream.endpoint });
      await routesKnown(rig);
      return { ...server, upstream, url: new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`) };
    },
    async rows(projectId, count, withinMs) {
      let rows: RequestLogDetail[] = [];
      await until(async () => {
        const { data } = await queryRequestLogs(database.pool, { projectId });
        const details = data.map(({ id, time }) =>
          readRequestLog(database.pool, { projectId, id, time: new Date(time) }),
        );
        rows = (await Promise.all(details)).filter((row) => row !== null);
        return rows.length >= count;
      }, withinMs);
      return rows;
    },
    async restart(change = {}) {
      await rig.gateway.stop(100);
      rig.config = { ...rig.config, ...change };
      rig.gateway = await startGateway(rig.config, log);
    },
    async close() {
      await rig.gateway.stop(100);
      await runner.stop();
      for (const upstream of upstreams) await upstream.close();
      await database.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return rig;
}

/** A rig for the tests of a file. Call it at the top: the rig opens before later hooks, and closes after them. */
export function openRig(environment?: Record<string, string>): Rig {
  let opened: Rig | undefined;
  beforeAll(async () => {
    opened = await createRig(environment);
  });
  afterAll(() => opened?.close());
  return new Proxy({} as Rig, {
    get: (_, name) => {
      if (!opened) throw new Error("The rig is open in hooks and tests only.");
      return Reflect.get(opened, name);
    },
  });
}

/** Waits for a condition, up to 20 s by default. */
export async function until(condition: () => Promise<boolean> | boolean, withinMs = 20_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = 10; !(await condition()); pauseMs = Math.min(pauseMs * 1.3, 100)) {
    if (Date.now() > deadline) throw new Error(`the condition did not come true within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Names of the log spool's segments of all processes that share its root. */
export async function segmentsIn(spoolRoot: string): Promise<string[]> {
  return (await readdir(spoolRoot, { recursive: true })).filter((name) => name.endsWith(".ndjson"));
}

type ServerOptions = {
  authMode?: Route["authMode"];
  capturePayloads?: boolean;
  access?: Partial<Access>;
  identityAssertion?: boolean;
  label?: string;
};

/** Sets a project's access policy; gateways are notified. Absent members don't restrict. */
export async function setAccess({ pool }: TestDatabase, projectId: string, access: Partial<Access>): Promise<void> {
  const { roles = null, apiKeyIds = null, tools = null } = access;
  await pool.query(
    `INSERT INTO access_policy (project_id, roles, api_key_ids, tools) VALUES ($1, $2, $3, $4)
     ON CONFLICT (project_id) DO UPDATE SET roles = $2, api_key_ids = $3, tools = $4`,
    [projectId, roles, apiKeyIds, tools],
  );
}

type Limits = { caller?: Rate; server?: Rate };

/** Sets a project's own limits of calls; gateways are notified. Absent ones are the instance's. */
export async function setLimits({ pool }: TestDatabase, projectId: string, { caller, server }: Limits): Promise<void> {
  await pool.query(
    `INSERT INTO call_limit (project_id, caller_per_minute, caller_burst, server_per_minute, server_burst)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (project_id) DO UPDATE SET caller_per_minute = $2, caller_burst = $3, server_per_minute = $4,
       server_burst = $5`,
    [projectId, caller?.perMinute, caller?.burst, server?.perMinute, server?.burst],
  );
}

async function insertServer(database: TestDatabase, options: ServerOptions) {
  const { pool } = database;
  const ids = {
    organizationId: randomUUID(),
    projectId: randomUUID(),
    branchId: randomUUID(),
    deploymentId: randomUUID(),
  };
  const label = options.label ?? `server-${ids.projectId.slice(0, 8)}`;
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Rig', $1::uuid::text)", [
    ids.organizationId,
  ]);
  await pool.query(
    `INSERT INTO project (id, organization_id, name, entrypoint, auth_mode, capture_payloads, identity_assertion)
     VALUES ($1, $2, $3, 'server.py', $4, $5, $6)`,
    [
      ids.projectId,
      ids.organizationId,
      label,
      options.authMode ?? "towpath-public",
      options.capturePayloads ?? false,
      options.identityAssertion ?? false,
    ],
  );
  await pool.query("INSERT INTO branch (id, project_id, name, is_default) VALUES ($1, $2, 'main', true)", [
    ids.branchId,
    ids.projectId,
  ]);
  await insertDeployment(pool, { ...ids, label });
  if (options.access) await setAccess(database, ids.projectId, options.access);
  await pool.query(
    "INSERT INTO route (label, project_id, branch_id, deployment_id, sequence) VALUES ($1, $2, $3, $4, 1)",
    [label, ids.projectId, ids.branchId, ids.deploymentId],
  );
  return { ...ids, label };
}

/** Adds a build and its deployment to a project, without routing to it. */
export async function insertDeployment(
  pool: TestDatabase["pool"],
  server: { projectId: string; branchId: string; deploymentId: string; label: string },
): Promise<void> {
  const buildId = randomUUID();
  await pool.query(
    `INSERT INTO build (id, project_id, branch_id, status, commit_sha, trigger, sequence, entrypoint)
     VALUES ($1, $2, $3, 'succeeded', 'abc', 'push', 1, 'server.py')`,
    [buildId, server.projectId, server.branchId],
  );
  await pool.query(
    `INSERT INTO deployment (id, project_id, branch_id, build_id, environment, slug)
     VALUES ($1, $2, $3, $4, 'production', $5)`,
    [server.deploymentId, server.projectId, server.branchId, buildId, server.label],
  );
}

/** The gateway learns of a route by notification, and its health page says how many it knows. */
async function routesKnown(rig: Rig): Promise<void> {
  const { rows } =
    await rig.database.pool.query(`SELECT (SELECT count(*) FROM route)::int + (SELECT count(*) FROM former_name
       WHERE expires_at > now() AND name NOT IN (SELECT label FROM route))::int AS count`);
  await until(async () => {
    const answer = await fetch(`http://127.0.0.1:${rig.gateway.port}/-/healthz`);
    // More if another server is deployed at the same time.
    return ((await answer.json()) as { routes: number }).routes >= rows[0].count;
  });
}
