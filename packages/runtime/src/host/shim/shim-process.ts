import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { SandboxError } from "../../port/errors.ts";
import { maskInherited } from "../process/child.ts";
import { ownerRuns, signalProcess } from "../process/tree.ts";
import type { ShimConfig } from "./client.ts";

const startTimeoutMs = 10_000;
/** How long a shim may take to end. */
export const endTimeoutMs = 3_000;

type ProcessConfig = Pick<ShimConfig, "directory" | "waitMs" | "orphanedMs">;

/** Connects to the shim of an earlier runner, or starts a new one. */
export async function dialOrStart(config: ProcessConfig): Promise<Socket> {
  const socketPath = `${config.directory}/shim.sock`;
  const existing = await dial(socketPath);
  if (existing !== null) return existing;
  await rm(socketPath, { force: true });
  await mkdir(config.directory, { recursive: true });
  const child = startShim(config, socketPath);
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline && child.exitCode === null && child.signalCode === null) {
    await sleep(10);
    const socket = await dial(socketPath);
    if (socket !== null) return socket;
  }
  child.kill("SIGKILL");
  throw new SandboxError("setup_failed", `The shim did not start. Its output is in ${config.directory}/shim.log.`);
}

function dial(socketPath: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once("connect", () => {
      socket.on("error", () => {});
      resolve(socket);
    });
    socket.once("error", () => resolve(null));
  });
}

function startShim(config: ProcessConfig, socketPath: string): ChildProcess {
  // A file, because a pipe would break with this process, or keep its supervisor waiting.
  const log = openSync(`${config.directory}/shim.log`, "w", 0o600);
  try {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", program, socketPath, `${config.waitMs}`, `${config.orphanedMs}`],
      {
        stdio: ["ignore", log, log, ...maskInherited(3)],
        // With the cache it doesn't load the TypeScript compiler, a quarter of its memory.
        env: { NODE_COMPILE_CACHE: `${config.directory}/shim-cache` },
        cwd: "/",
        // Its own session, so that Ctrl-C in a terminal reaches only the launcher, which stops the runner.
        detached: true,
      },
    );
    child.on("error", () => {});
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

const program = fileURLToPath(new URL("./shim.ts", import.meta.url));

/** Kills a shim that should have ended, and waits for its end. The kernel ends what it has started. */
export async function killOwner(name: string): Promise<void> {
  const pid = Number(/^(\d+)-\d+$/.exec(name)?.[1] ?? 0);
  const deadline = performance.now() + endTimeoutMs;
  while (pid > 0 && performance.now() < deadline && (await ownerRuns(name))) {
    signalProcess(pid, "SIGKILL");
    await sleep(10);
  }
}

/** The owner name that the shim of this directory last wrote; empty if there was none. */
export function lastOwner({ directory }: Pick<ProcessConfig, "directory">): Promise<string> {
  return readFile(`${directory}/shim.sock.owner`, "utf8").catch(() => "");
}
