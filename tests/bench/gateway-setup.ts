import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { freePort, freePorts } from "@towpath/role/testing";
import { createRunnerStandIn } from "@towpath/runner-api/testing";
import { modernCall } from "../instance/modern-call.ts";
import type { Side } from "./gateway-load.ts";
import { type Answers, startNginxProxy, startServer, workerOf } from "./gateway-nginx.ts";
import { insertAccessToken, insertApiKey, insertServer } from "./gateway-rows.ts";
import { requirePrograms } from "./measure.ts";

const secret = "the bench's secret has 32 letters";
const issuer = "http://localhost:3000";
const request = modernCall("echo", { text: "hello from the bench" }, "bench");
const thisCheckout = join(import.meta.dirname, "../..");
const proxyCore = "0";
const restCores = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : "0";

export type Bench = {
  directory: string;
  answers: Answers;
  apiKey: string;
  /** The server itself, without a proxy. */
  server: Side;
  /** Starts a real gateway of this checkout or another one, on one core or on all. */
  startGateway: (options: {
    workers: number;
    core?: string;
    checkout?: string;
    environment?: Readonly<Record<string, string>>;
  }) => Promise<Gateway>;
  startedToo: (child: ChildProcess) => void;
  rowsWritten: () => Promise<number>;
  stop: () => Promise<void>;
};

type Gateway = {
  pid: number;
  side: (name: string, label: Label, token?: string) => Side;
  accessToken: () => Promise<string>;
};
type Label = keyof ReturnType<typeof serversOf>;

const serversOf = ({ json, stream }: Answers) => ({
  "bench-public": { authMode: "towpath-public", path: json },
  "bench-stream": { authMode: "towpath-public", path: stream },
  "bench-signed-in": { authMode: "towpath-cloud", path: json },
});

/** Starts PostgreSQL, a server, and a stand-in for the runner that knows the server. */
export async function startBench(): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), "tp-bench-"));
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "data"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  const port = await freePort();
  const { answers, process: server } = await startServer(directory, port);
  const children = [server];
  const runner = createRunnerStandIn({ kind: "unix", path: join(directory, "runner.sock") });
  const databases = new Map<string, ReturnType<typeof openDatabase> & { readonly url: string }>();
  const openDatabaseOf = async (checkout: string) => {
    const known = databases.get(checkout);
    if (known) return known;
    const url = await createDatabase(postgres.url, { checkout, name: `checkout_${databases.size}` });
    const database = { ...openDatabase(url), url };
    databases.set(checkout, database);
    for (const [label, { authMode, path }] of Object.entries(serversOf(answers))) {
      const deployment = await insertServer(database.pool, label, authMode);
      runner.servers.set(deployment, { instanceId: `bench-${deployment}`, endpoint: { kind: "unix", path } });
    }
    return database;
  };
  const own = await openDatabaseOf(thisCheckout);
  const apiKey = await insertApiKey(own.pool, "bench-signed-in");
  await runner.start();
  return {
    directory,
    answers,
    apiKey,
    server: { name: "server itself", url: `http://127.0.0.1:${port}/mcp`, request, pid: null },
    startedToo: (child) => void children.unshift(child),
    async startGateway({ workers, core, checkout = thisCheckout, environment = {} }) {
      const port = await freePort();
      const database = await openDatabaseOf(checkout);
      const url = (label: string) => `http://localhost:${port}/${label}/mcp`;
      const child = await startGatewayProcess(directory, {
        databaseUrl: database.url,
        checkout,
        port,
        workers,
        core,
        environment,
      });
      children.unshift(child);
      return {
        pid: child.pid ?? 0,
        side: (name, label, token) => ({
          name,
          url: url(label).replace("localhost", "127.0.0.1"),
          request: token === undefined ? request : signed(token),
          pid: child.pid ?? 0,
        }),
        accessToken: () => {
          const label = "bench-signed-in";
          return insertAccessToken(database.pool, { label, resource: url(label), secret, issuer });
        },
      };
    },
    async rowsWritten() {
      await sleep(1500);
      const count = ({ pool }: { pool: typeof own.pool }) => pool.query("SELECT count(*) AS n FROM request_log");
      const counts = await Promise.all([...databases.values()].map(count));
      return counts.reduce((sum, { rows }) => sum + Number(rows[0].n), 0);
    },
    async stop() {
      for (const child of children) {
        child.kill("SIGTERM");
        if (child.exitCode === null) await once(child, "exit");
      }
      await runner.stop();
      for (const database of databases.values()) await database.close();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Creates a database with the schema of a checkout. Returns its URL. */
async function createDatabase(url: string, { checkout, name }: { checkout: string; name: string }): Promise<string> {
  const { pool, close } = openDatabase(url, { maxConnections: 1 });
  await pool.query(`CREATE DATABASE ${name}`);
  await close();
  const created = url.replace("/towpath?", `/${name}?`);
  await (await import(join(checkout, "packages/db/src/client.ts"))).migrateDatabase(created);
  return created;
}

const signed = (token: string) => ({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });

/** One core for the proxy that is measured, the other for everything else. */
export async function shareOutCores(): Promise<{ proxyCore: string }> {
  requirePrograms({ nginx: "nginx-light", wrk: "wrk", taskset: "util-linux" });
  // All children inherit this.
  await promisify(execFile)("taskset", ["-a", "-cp", restCores, String(process.pid)]);
  return { proxyCore };
}

/** nginx and the bare proxy in front of the same server, each on the core of proxies. */
export async function startOtherProxies({ directory, answers, startedToo }: Bench): Promise<OtherProxies> {
  const ports = await freePorts(5);
  const [fresh = 0, keepAlive = 0, nginxStream = 0, json = 0, stream = 0] = ports;
  const nginx = await startNginxProxy(directory, {
    answers,
    ports: { fresh, keepAlive, stream: nginxStream },
    core: proxyCore,
  });
  startedToo(nginx);
  const main = new URL("bare-proxy.main.ts", import.meta.url).pathname;
  const args = [String(json), answers.json, String(stream), answers.stream];
  const bare = spawn("taskset", ["-c", proxyCore, process.execPath, main, ...args], { stdio: "inherit" });
  startedToo(bare);
  for (const port of ports) await reachable(port);
  const nginxPid = await workerOf(nginx);
  const side = (name: string, port: number, pid = 0): Side => ({
    name,
    url: `http://127.0.0.1:${port}/mcp`,
    request,
    pid,
  });
  return {
    nginx: side("nginx proxy_pass", fresh, nginxPid),
    nginxKeepAlive: side("nginx, upstream keepalive", keepAlive, nginxPid),
    nginxStream: side("nginx, upstream keepalive", nginxStream, nginxPid),
    bare: side("bare undici proxy", json, bare.pid),
    bareStream: side("bare undici proxy", stream, bare.pid),
  };
}

type OtherProxies = Record<"nginx" | "nginxKeepAlive" | "nginxStream" | "bare" | "bareStream", Side>;

async function startGatewayProcess(
  directory: string,
  options: {
    databaseUrl: string;
    checkout: string;
    port: number;
    workers: number;
    core?: string | undefined;
    environment: Readonly<Record<string, string>>;
  },
): Promise<ChildProcess> {
  const { databaseUrl, checkout, port, workers, core, environment } = options;
  const [node = "", ...rest] = (await import(join(checkout, "apps/cli/src/up/role-process.ts"))).commandOf("gateway");
  const flags = process.env.BENCH_NODE_FLAGS?.split(" ").filter(Boolean) ?? [];
  const command = [node, ...rest.slice(0, -1), ...flags, ...rest.slice(-1)];
  const [program = "", ...args] = core === undefined ? command : ["taskset", "-c", core, ...command];
  const dataDirectory = join(directory, `gateway-${port}`);
  await mkdir(dataDirectory);
  const child = spawn(program, args, {
    env: {
      DATABASE_URL: databaseUrl,
      TOWPATH_GATEWAY_WORKERS: String(workers),
      TOWPATH_DATA_DIR: dataDirectory,
      TOWPATH_RUN_DIR: directory,
      TOWPATH_SECRET: secret,
      TOWPATH_LOG_LEVEL: "info",
      TOWPATH_SERVER_URL: `http://localhost:${port}/{name}`,
      TOWPATH_GATEWAY_PORT: String(port),
      // Kept, as in production, but never reached.
      ...Object.fromEntries(
        ["CALLER", "SERVER", "ORGANIZATION"].flatMap((name) => [
          [`TOWPATH_LIMIT_${name}_PER_MINUTE`, "10000000"],
          [`TOWPATH_LIMIT_${name}_BURST`, "10000000"],
        ]),
      ),
      ...environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  for await (const line of createInterface(child.stdout)) {
    printed = line;
    if (line.includes('"ready"')) break;
  }
  if (!printed.includes('"ready"')) throw new Error(`the gateway ended before it was ready: ${printed}`);
  child.stdout.resume();
  return child;
}

async function reachable(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const answered = await fetch(`http://127.0.0.1:${port}/mcp`).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await sleep(50);
  }
  throw new Error(`nothing answers at port ${port}`);
}
