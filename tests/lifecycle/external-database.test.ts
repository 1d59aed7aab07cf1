import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openDatabase } from "@towpath/db";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@towpath/db/embedded";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { askSocket, metricsOf } from "../instance/metrics.ts";
import { modernCall } from "../instance/modern-call.ts";
import { plainRequirements, plainServer } from "../instance/plain-server.ts";
import { hasPgBouncer, type Pooler, startPooler } from "../instance/pooler.ts";
import { processOf, runningProcessOf } from "../instance/processes.ts";
import {
  instancePorts,
  repositoryRoot,
  startTowpath,
  type TowpathInstance,
  towpath,
  towpathWith,
} from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";

// An instance on somebody else's PostgreSQL, behind a pooler where one is installed. The tests build on each other.

let directory: string;
let dataDirectory: string;
let postgres: EmbeddedPostgres;
let pooler: Pooler | null = null;
let instance: TowpathInstance;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-ext-"));
  dataDirectory = join(directory, "data");
  postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "pg"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  if (hasPgBouncer) pooler = await startPooler(join(directory, "b"), postgres.url);
  instance = await startTowpath(dataDirectory, await instancePorts(), databaseOf());
});
afterAll(async () => {
  await instance?.stop();
  await pooler?.stop();
  await postgres?.stop();
  // Mounts of an ended server vanish a moment later.
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Environment of an instance. */
const databaseOf = (): Record<string, string> =>
  pooler === null ? { DATABASE_URL: postgres.url } : { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: postgres.url };

const statusOf = async (url: string) => (await fetch(url)).status;
const health = () => ({ web: `${instance.url}/healthz`, gateway: `${instance.serversUrl}/-/healthz` });

test("OPS-2 with DATABASE_URL the instance starts no PostgreSQL of its own, and keeps everything in that one", async () => {
  expect(processOf(dataDirectory, "postgres")).toBeNull();
  expect(await readdir(dataDirectory)).not.toContain("postgres");

  const source = await mkdtemp(join(tmpdir(), "towpath-ext-server-"));
  onTestFinished(() => rm(source, { recursive: true }));
  await writeFile(join(source, "requirements.txt"), plainRequirements);
  await writeFile(join(source, "server.py"), plainServer({ echo: '"hello"' }, 'print("ready to echo", flush=True)'));
  const deployed = await towpath("deploy", source, "--name", "echo-elsewhere", "--public", "--data-dir", dataDirectory);
  expect(deployed.stdout + deployed.stderr).toContain(`Live: ${instance.serversUrl}/echo-elsewhere/mcp`);
  const client = new Client({ name: "elsewhere", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${instance.serversUrl}/echo-elsewhere/mcp`)));
  expect(await client.callTool({ name: "echo", arguments: {} })).toMatchObject({
    content: [{ type: "text", text: "hello" }],
  });
  await client.close();

  const { pool, close } = openDatabase(postgres.url, { maxConnections: 1 });
  const rows = `SELECT project.name, build.status, request_log.target FROM project
    JOIN build ON build.project_id = project.id JOIN request_log ON request_log.project_id = project.id
    WHERE request_log.method = 'tools/call'`;
  const stored = async () => (await pool.query(rows)).rows;
  await expect.poll(stored).toEqual([{ name: "echo-elsewhere", status: "succeeded", target: "echo" }]);
  await close();
}, 180_000);

test.skipIf(!hasPgBouncer)(
  "OPS-2 a pooler in transaction mode may stand before the database, for all but LISTEN",
  async () => {
    expect(await pooler?.transactions()).toBeGreaterThan(100);
    const { pool, close } = openDatabase(postgres.url, { maxConnections: 1 });
    const { rows } = await pool.query(
      "SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'towpath-%-listen'",
    );
    await close();
    expect(rows.map(({ name }) => name)).toContain("towpath-gateway-listen");
    for (const role of ["web", "gateway", "runner", "worker"])
      expect(await readFile(join(dataDirectory, "logs", `${role}.log`), "utf8"), role).not.toMatch(
        /prepared statement|startup parameter|advisory lock/i,
      );
  },
);

test("OPS-2 OPS-4 the terminal reads requests, errors apart, and what the server printed from that database", async () => {
  const read = async (...args: string[]) => {
    const printed = await towpath("logs", "echo-elsewhere", ...args, "--json", "--data-dir", dataDirectory);
    expect([printed.status, printed.stderr]).toEqual([0, expect.not.stringMatching(/Something went wrong/)]);
    return printed.stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  };
  expect(await read("tool:echo")).toMatchObject([{ method: "tools/call", target: "echo", httpStatus: 200 }]);
  // The client asked for a newer revision, and for a stream, which the server doesn't have.
  const errors = (await read("--errors")).map(({ isError, method }) => [isError, method]);
  expect(errors).toContainEqual([true, null]);
  expect(errors.filter(([isError, method]) => !isError || method === "tools/call")).toEqual([]);
  const lines = async () => (await read("--server")).map(({ line }) => line);
  await expect.poll(lines).toContain("ready to echo");
}, 60_000);

test("OPS-2 web, gateway and runner report their health, and every process has metrics", async () => {
  expect(await (await fetch(health().web)).json()).toEqual({ ok: true });
  expect(await (await fetch(health().gateway)).json()).toMatchObject({ ok: true, database: true });
  expect(await askSocket(dataDirectory, "runner.sock", "/healthz")).toEqual({ status: 200, body: '{"status":"ok"}' });
  for (const role of ["web", "gateway", "runner", "worker"] as const)
    expect(await metricsOf(instance, role)).toMatch(
      new RegExp(`^towpath_build_info{version=".+",role="${role}"} 1$`, "m"),
    );
});

test("OPS-2 one argument migrates the database or is one process, with the environment's settings and this very process", async () => {
  expect(await towpathWith({ env: databaseOf() }, "migrate")).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/The database is at .*, no migrations\./),
  });
  expect(await towpath("run", "forge")).toMatchObject({ status: 2, stderr: expect.stringContaining("no role forge") });
  const { gateway: port } = await instancePorts();
  const child = spawn(join(repositoryRoot, "towpath"), ["run", "gateway"], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...databaseOf(),
      TOWPATH_DATA_DIR: join(directory, "second"),
      TOWPATH_RUN_DIR: join(dataDirectory, "run"),
      TOWPATH_SECRET: JSON.parse(await readFile(join(dataDirectory, "instance.json"), "utf8")).secret,
      TOWPATH_GATEWAY_PORT: String(port),
      TOWPATH_SERVER_URL: `${instance.serversUrl}/{name}`,
    },
    stdio: "ignore",
  });
  const ended = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  const gateway = `http://localhost:${port}`;
  await expect.poll(() => statusOf(`${gateway}/-/healthz`).catch(() => 0), { timeout: 60_000 }).toBe(200);
  expect(await readFile(`/proc/${child.pid}/cmdline`, "utf8")).toContain("apps/gateway/src/main.ts");
  const call = await fetch(`${gateway}/echo-elsewhere/mcp`, modernCall("echo", {}, "one-process"));
  expect(await call.text()).toContain("hello");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
}, 120_000);

test.runIf(isThorough)(
  "OPS-6 doctor finds the running instance with the settings that it got, and a process that hangs",
  async () => {
    const doctor = async (): Promise<Record<string, string>> => {
      const { stdout } = await towpath("doctor", "--data-dir", dataDirectory, "--json");
      const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string }[] };
      return Object.fromEntries(findings.map(({ name, state }) => [name, state]));
    };
    const database = { database: "ok", schema: "ok", "rights in the database": "ok", pooler: "ok", secret: "ok" };
    const instance = { web: "ok", gateway: "ok", runner: "ok", worker: "ok", ports: "not-needed" };
    expect(await doctor()).toMatchObject({ ...database, ...instance });
    const worker = runningProcessOf(dataDirectory, "worker");
    process.kill(worker, "SIGSTOP");
    onTestFinished(() => void process.kill(worker, "SIGCONT"));
    expect(await doctor()).toMatchObject({ ...database, ...instance, worker: "fix" });
  },
  120_000,
);

test.runIf(isThorough)(
  "OPS-3 data of a newer release is refused by up and by each process that is started by itself, with both releases named",
  async () => {
    const { pool, close } = openDatabase(postgres.url, { maxConnections: 1 });
    const unknown =
      "INSERT INTO drizzle.__drizzle_migrations (hash, created_at) SELECT 'x', max(created_at) + 1 FROM drizzle.__drizzle_migrations";
    const { rows: named } = await pool.query("SELECT obj_description('drizzle'::regnamespace) AS release");
    const identity = JSON.parse(await readFile(join(dataDirectory, "instance.json"), "utf8"));
    expect(named).toEqual([{ release: identity.release }]);
    await pool.query(`${unknown}; COMMENT ON SCHEMA drizzle IS '9.9.0 (commit f00)'`);
    try {
      const refusal = `a newer release of Towpath, 9.9.0 (commit f00); this is ${identity.release}`;
      const other = join(directory, "other-data");
      const ports = Object.entries(await instancePorts()).flatMap(([name, port]) => [
        name === "web" ? "--port" : `--${name}-port`,
        String(port),
      ]);
      const up = await towpathWith({ env: databaseOf() }, "up", "--data-dir", other, ...ports);
      expect([up.status, up.stderr]).toEqual([1, expect.stringContaining(refusal)]);
      const migrate = await towpathWith({ env: databaseOf() }, "migrate");
      expect([migrate.status, migrate.stderr]).toEqual([1, expect.stringContaining(refusal)]);
      for (const role of ["web", "gateway", "runner", "worker"] as const) {
        process.kill(runningProcessOf(dataDirectory, role), "SIGKILL");
      }
      // Each is started again by its supervisor, and refuses.
      for (const role of ["web", "gateway", "runner", "worker"])
        await expect
          .poll(() => readFile(join(dataDirectory, "logs", `${role}.log`), "utf8"), { timeout: 60_000 })
          .toContain(refusal);
    } finally {
      await pool.query("DELETE FROM drizzle.__drizzle_migrations WHERE hash = 'x'");
      await pool.query(`COMMENT ON SCHEMA drizzle IS '${identity.release}'`);
      await close();
    }
    for (const url of Object.values(health()))
      await expect.poll(() => statusOf(url).catch(() => 0), { timeout: 60_000 }).toBe(200);
  },
  240_000,
);

test.runIf(isThorough)(
  "OPS-2 without its PostgreSQL web is unhealthy; the gateway continues to serve and reports the database as down",
  async () => {
    await pooler?.stop();
    await postgres.stop();
    await expect.poll(() => statusOf(health().web)).toBe(503);
    const gateway = async () => (await fetch(health().gateway)).json();
    await expect.poll(gateway).toMatchObject({ ok: true, database: false });
    const stopped = await instance.stop();
    expect(stopped.status).toBe(0);
  },
);
