import { type FSWatcher, watch } from "node:fs";
import { link, lstat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import type { Exit, HarnessStatus, InstanceHandle, InstanceSpec, OutputSink, StartResult } from "../port.ts";
import { type FloodLimits, floodGate } from "../process/flood.ts";
import type { RunningProcess, Spawner } from "../process/running-process.ts";
import { readHarnessStatus } from "./harness-status.ts";
import { runtimeDirectory, socketName, statusName } from "./inside-paths.ts";

/** A folder for the server's socket and status; what holds it apart from the host's disk is the driver's business. */
export type SocketFolder = {
  /** The server's side, mounted writable at /run/towpath. */
  readonly shared: string;
  /** The platform's side: the server cannot write here. */
  readonly own: string;
  remove(): Promise<void>;
};

const pollMs = 100;
const flushMs = 1000;

/** Starts a server and waits for its socket. Common to all drivers of this host. */
export async function startServer(
  spawn: Spawner,
  folder: SocketFolder,
  spec: InstanceSpec,
  onOutput: OutputSink,
  floodLimits: FloodLimits,
): Promise<StartResult> {
  const startedAt = performance.now();
  const gate = floodGate(onOutput, floodLimits);
  const mount = { host: folder.shared, inside: runtimeDirectory, writable: true };
  let running: RunningProcess;
  try {
    running = await spawn({ ...spec.sandbox, mounts: [...spec.sandbox.mounts, mount] }, { onLine: gate.line });
  } catch (error) {
    await folder.remove();
    throw error;
  }
  const flushing = setInterval(gate.flush, flushMs);
  flushing.unref();
  const exited = running.ended.then(async (exit) => {
    clearInterval(flushing);
    gate.flush();
    // What stays is swept by the next process. The end must be told in any case: nobody else tells it.
    await folder.remove().catch(() => {});
    return exit;
  });
  const outcome = await firstOutcome(folder, running.ended, spec.startTimeoutMs);
  if (outcome.kind === "ready") {
    const socketPath = `${folder.own}/${socketName}`;
    return {
      ok: true,
      startMs: performance.now() - startedAt,
      handle: instanceHandle(spec.instanceId, socketPath, running, exited),
    };
  }
  await running.kill();
  const exit = await exited;
  const status = outcome.kind === "failed" ? outcome.status : null;
  if (status !== null) return { ok: false, cause: "harness", status, exit };
  return { ok: false, cause: outcome.kind === "timeout" ? "timeout" : "exited", status: null, exit };
}

type Outcome =
  | { readonly kind: "ready" | "exited" | "timeout" }
  | { readonly kind: "failed"; readonly status: Extract<HarnessStatus, { state: "failed" }> };

async function firstOutcome(folder: SocketFolder, ended: Promise<Exit>, timeoutMs: number): Promise<Outcome> {
  const outcome = Promise.withResolvers<Outcome>();
  const look = async () => {
    const status = await readHarnessStatus(`${folder.shared}/${statusName}`);
    if (status?.state === "failed") outcome.resolve({ kind: "failed", status });
    if (status?.state === "ready" && (await takeSocket(folder))) outcome.resolve({ kind: "ready" });
  };
  let watcher: FSWatcher | null = null;
  try {
    watcher = watch(folder.shared, () => void look());
    watcher.on("error", () => {});
  } catch {
    // No more inotify instances: the poll below finds it.
  }
  const poll = setInterval(() => void look(), pollMs);
  const timer = setTimeout(() => outcome.resolve({ kind: "timeout" }), timeoutMs);
  // It may have said why it ends just before it ended.
  void ended.then(look).then(() => outcome.resolve({ kind: "exited" }));
  try {
    return await outcome.promise;
  } finally {
    watcher?.close();
    clearInterval(poll);
    clearTimeout(timer);
  }
}

/**
 * Makes the server's socket reachable in the platform's own folder by a hard link. The server could later replace the
 * socket by a link to a socket of the platform, and whoever connects by its path would be sent there; the hard link
 * stays what it was.
 */
async function takeSocket(folder: SocketFolder): Promise<boolean> {
  const own = `${folder.own}/${socketName}`;
  try {
    await link(`${folder.shared}/${socketName}`, own);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
  }
  try {
    if ((await lstat(own)).isSocket() && (await answers(own))) return true;
    await unlink(own);
  } catch {
    // Gone with the instance.
  }
  return false;
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

function instanceHandle(
  instanceId: string,
  socketPath: string,
  running: RunningProcess,
  exited: Promise<Exit>,
): InstanceHandle {
  let frozen = false;
  let stopping: Promise<Exit> | null = null;
  const wake = async () => {
    if (!frozen) return;
    await running.wake();
    frozen = false;
  };
  const stop = async (): Promise<Exit> => {
    let ended = false;
    void running.ended.then(() => {
      ended = true;
    });
    await Promise.resolve();
    if (ended) return await exited;
    await wake();
    await running.terminate();
    return { ...(await exited), reason: "stopped" };
  };
  return {
    instanceId,
    socketPath,
    exited: exited.then((exit) => (stopping === null ? exit : { ...exit, reason: "stopped" })),
    async freeze() {
      if (!frozen) frozen = await running.freeze();
      return frozen;
    },
    wake,
    stop(graceMs) {
      stopping ??= stop();
      // The shortest grace that anybody gives counts: a platform that ends does not wait for an earlier, longer one.
      const timer = setTimeout(() => void running.kill(), graceMs);
      void exited.then(() => clearTimeout(timer));
      return stopping;
    },
    memoryBytes: () => running.memoryBytes(),
  };
}
