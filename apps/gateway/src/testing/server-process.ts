import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { DeployedServer, Rig } from "./rig.ts";

const program = new URL("server-process.main.ts", import.meta.url).pathname;

/** A deployed server in its own process, which can crash. */
export type ServerProcess = DeployedServer & {
  /** How often the tool `die` ran. */
  runs: () => Promise<number>;
  /** Starts a process as the runner would and leases it from then on. */
  start: () => Promise<void>;
  /** The runner's behavior on a crash: for a moment it still names the dead instance, then it waits, then it starts. */
  restartAfterCrash: (timing: { noticedAfterMs: number; backOffMs: number }) => Promise<void>;
  /** The process and its socket now. */
  current: () => { child: ChildProcess; socketPath: string };
  close: () => Promise<void>;
};

export async function deployProcess(rig: Rig, { backlog = 511 } = {}): Promise<ServerProcess> {
  const directory = await mkdtemp(join(tmpdir(), "tp-sp-"));
  const server = await rig.deploy((_request, response) => response.destroy());
  const runsFile = join(directory, "runs");
  const started: { child: ChildProcess; socketPath: string }[] = [];
  const current = () => {
    const last = started.at(-1);
    if (!last) throw new Error("no process was started");
    return last;
  };

  const deployed: ServerProcess = {
    ...server,
    current,
    runs: async () => (await readFile(runsFile, "utf8").catch(() => "")).split("\n").length - 1,
    async start() {
      const instanceId = randomUUID();
      const socketPath = join(directory, `${instanceId.slice(0, 8)}.sock`);
      const child = spawn(process.execPath, [program, socketPath, runsFile, String(backlog)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      started.push({ child, socketPath });
      await outputLine(child, "ready");
      rig.runner.servers.set(server.deploymentId, { instanceId, endpoint: { kind: "unix", path: socketPath } });
    },
    async restartAfterCrash({ noticedAfterMs, backOffMs }) {
      const { child, socketPath } = current();
      await new Promise((resolve) => child.once("exit", resolve));
      await pause(noticedAfterMs);
      const message = "The server keeps failing: killed by SIGKILL.";
      rig.runner.servers.set(server.deploymentId, {
        instanceId: "",
        endpoint: { kind: "unix", path: socketPath },
        failure: { code: "crash_backoff", message, retryAfterMs: backOffMs },
      });
      await pause(backOffMs);
      await deployed.start();
    },
    async close() {
      for (const { child } of started) child.kill("SIGKILL");
      await rm(directory, { recursive: true, force: true });
    },
  };
  await deployed.start();
  return deployed;
}

/** Resolves when the process has written this line. */
export function outputLine(child: ChildProcess, line: string): Promise<void> {
  const { stdout } = child;
  if (!stdout) throw new Error("the output of the process is not read");
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stdout });
    lines.on("line", (text) => {
      if (text === line) resolve();
    });
    child.once("exit", () => reject(new Error(`the process ended before it printed ${line}`)));
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
