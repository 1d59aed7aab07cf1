import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "@towpath/db";
import { freePorts } from "@towpath/role/testing";
import { createRunnerClient, dialTarget, type Endpoint, secretHeader } from "@towpath/runner-api";
import { Pool } from "undici";
import { modernCall } from "../instance/modern-call.ts";
import { databaseUrlOf, launcherOf, runningProcessOf } from "../instance/processes.ts";
import { instancePorts, repositoryRoot, startTowpath, towpath } from "../instance/towpath-process.ts";
import { bareEnvironment, dependencyLayers } from "./bare-python.ts";
import { writeServer } from "./echo-server.ts";

const label = "bench-callers";
const secret = "secret of the bench";
const request = modernCall("word", {}, "bench");
const maxStartMs = 60_000;

/** One way to the server. */
export type Side = {
  readonly name: string;
  /** The process that runs the server's code. */
  readonly serverPid: number;
  /** Rejects unless the tool has answered. */
  readonly call: () => Promise<void>;
};

type Sides = {
  readonly sides: readonly Side[];
  /** Processes of the instance. All are below its launcher. */
  readonly pids: Record<"launcher" | "gateway" | "server", number>;
  readonly stop: () => Promise<void>;
};

/** Starts an instance with one server, and the same server outside of it. `connections`: of each side. */
export async function startSides(connections: number): Promise<Sides> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
  const instance = await startTowpath(dataDirectory, await instancePorts(), {
    ...Object.fromEntries(["CALLER", "SERVER", "ORGANIZATION"].map((who) => [`TOWPATH_LIMIT_${who}_PER_MINUTE`, "0"])),
    TOWPATH_FREEZE_AFTER_MS: "3600000",
    TOWPATH_PREWARM_SHARE: "0",
  });
  const clients = createClients(connections);
  const outside = createPythons(dataDirectory);
  const stop = async () => {
    await Promise.all([clients.close(), outside.stop(), instance.stop()]);
    await rm(dataDirectory, { recursive: true });
  };
  try {
    const directory = await writeServer("bench", "fastmcp==4.1.2\n");
    await deploy(dataDirectory, directory);
    const [layer = ""] = await dependencyLayers(dataDirectory);
    const python = await bareEnvironment(layer, join(dataDirectory, "bare"));
    const [port = 0, harnessPort = 0] = await freePorts(2);
    const socket = join(dataDirectory, "harness.sock");
    const direct = outside.start({ python, directory }, ["server.py", String(port)]);
    const onPort = outside.startHarness({ python, directory }, `127.0.0.1:${harnessPort}`);
    const onSocket = outside.startHarness({ python, directory }, socket);
    const endpoint = await endpointInSandbox(dataDirectory);
    const serverPid = await pidInSandbox(dataDirectory);
    const callHarness = (at: Endpoint) => clients.callTo({ ...at, secret }, "/mcp");
    const throughGateway = clients.callTo(local(Number(new URL(instance.serversUrl).port)), `/${label}/mcp`);
    const sides: Side[] = [
      { name: "direct", serverPid: direct, call: clients.callTo(local(port), "/mcp") },
      { name: "harness on a port", serverPid: onPort, call: callHarness(local(harnessPort)) },
      { name: "harness on a socket", serverPid: onSocket, call: callHarness({ kind: "unix", path: socket }) },
      { name: "in its sandbox", serverPid, call: clients.callTo(endpoint, "/mcp") },
      { name: "through the gateway", serverPid, call: throughGateway },
    ];
    for (const side of sides) await untilItAnswers(side);
    const [launcher, gateway] = [launcherOf(dataDirectory), runningProcessOf(dataDirectory, "gateway")];
    return { sides, pids: { launcher, gateway, server: serverPid }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const local = (port: number): Endpoint => ({ kind: "tcp", host: "127.0.0.1", port });

function createClients(connections: number) {
  const pools: Pool[] = [];
  return {
    callTo(endpoint: Endpoint & { readonly secret?: string }, path: string): Side["call"] {
      const { origin, options } = dialTarget(endpoint);
      const pool = new Pool(origin, { ...options, connections });
      pools.push(pool);
      const known = endpoint.secret === undefined ? {} : { [secretHeader]: endpoint.secret };
      const headers = { ...request.headers, ...known };
      return async () => {
        const { statusCode, body } = await pool.request({ ...request, path, headers });
        const text = await body.text();
        if (statusCode !== 200 || !text.includes('"bench"')) throw new Error(`${statusCode}: ${text}`);
      };
    },
    close: () => Promise.all(pools.map((pool) => pool.destroy())),
  };
}

type Program = { readonly python: string; readonly directory: string };

/** What runs outside of the instance, in `directory`. Both starts return the process id. */
function createPythons(dataDirectory: string) {
  const children: ChildProcess[] = [];
  const start = ({ python, directory }: Program, args: readonly string[], env: Record<string, string> = {}): number => {
    const all = { PATH: process.env.PATH, ...env };
    const child = spawn(python, args, { cwd: directory, env: all, stdio: ["pipe", "ignore", "ignore"] });
    children.push(child);
    child.stdin.end(secret);
    return child.pid ?? 0;
  };
  return {
    start,
    startHarness(program: Program, address: string): number {
      const status = join(dataDirectory, `status-${children.length}.json`);
      const args = ["--entrypoint", "server.py", "--listen", address, "--status", status];
      const harness = join(repositoryRoot, "python", "towpath_runner");
      return start(program, ["-m", "towpath_runner", ...args], { PYTHONPATH: harness, PYTHONSAFEPATH: "1" });
    },
    async stop() {
      for (const child of children) {
        child.kill("SIGKILL");
        if (child.exitCode === null && child.signalCode === null) await once(child, "close");
      }
    },
  };
}

async function deploy(dataDirectory: string, directory: string): Promise<void> {
  const done = await towpath("deploy", directory, "--name", label, "--public", "--data-dir", dataDirectory);
  if (done.status !== 0) throw new Error(done.stdout + done.stderr);
}

async function endpointInSandbox(dataDirectory: string) {
  const database = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 1 });
  const { rows } = await database.pool.query("SELECT deployment_id AS id FROM route WHERE label = $1", [label]);
  await database.close();
  const path = join(dataDirectory, "run", "runner.sock");
  const runner = createRunnerClient({ kind: "unix", path }, { timeoutMs: maxStartMs });
  const { endpoint } = await runner.ensure(rows[0].id);
  await runner.close();
  return endpoint;
}

/** The harness whose mounts are of this instance. */
async function pidInSandbox(dataDirectory: string): Promise<number> {
  for (const pid of (await readdir("/proc")).filter((each) => /^\d+$/.test(each))) {
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
    if (!(await read("cmdline")).startsWith("/app/.venv/bin/python\0-m\0towpath_runner\0")) continue;
    if ((await read("mountinfo")).includes(dataDirectory)) return Number(pid);
  }
  throw new Error("no process of the server's is there");
}

async function untilItAnswers({ name, call }: Side): Promise<void> {
  const until = performance.now() + maxStartMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() > until) throw new Error(`${name} doesn't answer`, { cause: error });
      await sleep(100);
    }
  }
}
