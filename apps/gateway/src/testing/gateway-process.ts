import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { BoundSocket } from "node:net";
import { createInterface } from "node:readline";
import { type Rig, secret, until } from "./rig.ts";

const main = new URL("../main.ts", import.meta.url).pathname;

/** A line of the process's log. */
type LogLine = { msg: string; port?: number; worker?: number; pid?: number };

/** A gateway in its own process, or several, which can be killed. */
export type GatewayProcess = {
  child: ChildProcess;
  port: number;
  /** What it has logged so far. */
  log: readonly LogLine[];
  /** Process ids of the workers that served last, by index. */
  workers: () => number[];
  /** Resolves to exit status or signal. */
  ended: Promise<number | string>;
};

/** Starts the gateway beside the rig's, with its database and runner, and waits until it serves. */
export async function startGatewayProcess(
  rig: Rig,
  directory: string,
  environment: Record<string, string> = {},
  socket?: BoundSocket,
): Promise<GatewayProcess> {
  const child = spawnGateway(
    {
      DATABASE_URL: rig.config.databaseUrl,
      TOWPATH_DATA_DIR: directory,
      TOWPATH_RUN_DIR: rig.runDirectory,
      TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
      TOWPATH_GATEWAY_PORT: "0",
      ...environment,
    },
    socket,
  );
  const log: LogLine[] = [];
  const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | string);
  if (!child.stdout) throw new Error("the output of the process is not read");
  createInterface({ input: child.stdout }).on("line", (line) => log.push(JSON.parse(line)));
  const readyLine = () => log.find(({ msg }) => msg === "ready");
  await until(() => readyLine() !== undefined || child.exitCode !== null, 50_000);
  const port = readyLine()?.port;
  if (port === undefined) throw new Error(`the gateway ended before it was ready: ${JSON.stringify(log)}`);
  return {
    child,
    port,
    log,
    ended,
    workers() {
      const pids: number[] = [];
      for (const line of log) {
        if (line.msg === "worker ready" && line.worker !== undefined && line.pid !== undefined)
          pids[line.worker] = line.pid;
      }
      return pids;
    },
  };
}

/** Starts the program with its own environment, except for Node's cache; `socket` is what it listens on. */
export function spawnGateway(environment: Record<string, string>, socket?: BoundSocket): ChildProcess {
  const own = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, TOWPATH_SECRET: secret };
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main], {
    env: { ...own, ...(socket && { LISTEN_FDS: "1" }), ...environment },
    stdio: ["ignore", "pipe", "pipe", ...(socket ? [socket.fd()] : [])],
  });
}

/** Whether a process exists; one that has ended and was not waited for counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
