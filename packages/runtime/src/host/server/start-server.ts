import { randomBytes } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerEndpoint } from "@towpath/runner-api/endpoint";
import type { Exit, OutputSink } from "../../port/execution.ts";
import type { InstanceHandle, LateStart, StartResult } from "../../port/servers.ts";
import type { Launch } from "../engine.ts";
import { type FloodGate, type FloodLimits, floodGate } from "../process/flood.ts";
import { activityOf } from "../process/processor-use.ts";
import type { RunningProcess, Spawner } from "../process/running-process.ts";
import { readFailure } from "./harness-status.ts";
import { watchProcessLimit } from "./process-limit.ts";
import { answersRequest, takeSocket } from "./server-socket.ts";
import { runtimeDirectory, socketName, statusName } from "./server-spec.ts";
import { dumpName, dumpSignal, readStackDump } from "./stack-dump.ts";

/** The directory for a server's socket and status. The driver limits what the server can write there. */
export type SocketDirectory = {
  /** The server's side, mounted writable at /run/towpath. */
  readonly shared: string;
  /** The platform's side: the server cannot write here. */
  readonly own: string;
  remove(): Promise<void>;
};

const pollMs = 100;
const maxPauseMs = 50;
const flushMs = 1000;

/** An instance, and the secret by which it recognizes the platform. */
type InstanceIdentity = { readonly instanceId: string; readonly secret: string };

export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Starts a server and waits until it answers. Used by all engines of this host. */
export async function startServer(
  spawn: Spawner,
  directory: SocketDirectory,
  launch: Launch,
  onOutput: OutputSink,
  floodLimits: FloodLimits,
): Promise<StartResult> {
  const startedAt = performance.now();
  const gate = floodGate(onOutput, floodLimits);
  const mount = { host: directory.shared, inside: runtimeDirectory, writable: true };
  let running: RunningProcess;
  try {
    running = await spawn(
      { ...launch.sandbox, mounts: [...launch.sandbox.mounts, mount], input: true },
      { onLine: gate.line, gate },
    );
  } catch (error) {
    await directory.remove();
    throw error;
  }
  const { instanceId, startTimeoutMs } = launch;
  const secret = newSecret();
  running.sendInput(secret);
  return await awaitServer(running, directory, { instanceId, secret, startTimeoutMs, startedAt }, gate);
}

/**
 * Waits until a started process serves; ends it if it does not.
 * @param start.startedAt by performance.now()
 */
export async function awaitServer(
  running: RunningProcess,
  directory: SocketDirectory,
  start: InstanceIdentity & { readonly startTimeoutMs: number; readonly startedAt: number },
  gate: FloodGate,
): Promise<StartResult> {
  let late: Omit<LateStart, "stack"> | null = null;
  const untilTooLate = async (signal: AbortSignal) => {
    late = await tooLate(running, start.startTimeoutMs, signal);
  };
  const decided = outcomeOf(directory, running.ended, untilTooLate, (done) =>
    finalStatus(directory, start.secret, done),
  );
  // A server that ends early leaves the reason in its directory: read it before removing that.
  const remove = () => decided.then(() => directory.remove());
  const isReady = decided.then((outcome) => typeof outcome !== "string" && outcome.state === "ready");
  const { handle, exited } = superviseServer(running, { ...directory, remove }, start, gate, { isReady });
  const outcome = await decided;
  if (typeof outcome !== "string" && outcome.state === "ready") {
    const { prewarm, bridge, incomplete } = outcome;
    const startMs = performance.now() - start.startedAt;
    const more = { ...(prewarm && { prewarm }), ...(bridge && { bridge }), ...(incomplete && { incomplete }) };
    return { ok: true, startMs, handle, ...more };
  }
  const stack = outcome === "timeout" ? await askForStack(running, directory) : [];
  await running.kill();
  const exit = await exited;
  if (typeof outcome !== "string") return { ok: false, cause: "harness", status: outcome, exit };
  if (late === null) return { ok: false, cause: "exited", status: null, exit };
  return { ok: false, cause: "timeout", status: null, exit, late: { ...(late as LateStart), stack } };
}

/**
 * The handle of a server, which is ended if it gets stuck at its limit of processes. `isReady`: until then nobody
 * expects an answer. `isFrozen`: as an earlier process of the platform left it.
 */
export function superviseServer(
  running: RunningProcess,
  directory: SocketDirectory,
  { instanceId, secret }: InstanceIdentity,
  gate: FloodGate,
  { isReady, isFrozen = false }: { readonly isReady: Promise<boolean>; readonly isFrozen?: boolean },
): { readonly handle: InstanceHandle; readonly exited: Promise<Exit> } {
  const flushing = setInterval(gate.flush, flushMs);
  flushing.unref();
  const socket = { path: `${directory.own}/${socketName}`, secret };
  const frozen = { is: isFrozen };
  let isStuck = false;
  let mustAnswer = false;
  void isReady.then((ready) => {
    mustAnswer = ready;
  });
  const stopWatching = watchProcessLimit({
    use: () => running.processUse(),
    answers: async (signal) => !mustAnswer || (await answersRequest(socket, signal)),
    isFrozen: () => frozen.is,
    onStuck() {
      isStuck = true;
      void running.kill();
    },
  });
  const exited = running.ended.then(async (exit): Promise<Exit> => {
    stopWatching();
    clearInterval(flushing);
    gate.flush();
    // Report the exit even if this fails; the next runner removes the directory.
    await directory.remove().catch(() => {});
    return isStuck ? { reason: "process-limit", code: null, signal: null } : exit;
  });
  return { handle: instanceHandle(instanceId, { kind: "unix", ...socket }, running, exited, frozen), exited };
}

/** The harness's status at the end of the start. */
async function finalStatus({ shared, own }: SocketDirectory, secret: string, done: AbortSignal) {
  const failure = await readFailure(`${shared}/${statusName}`);
  return failure ?? (await takeSocket(`${shared}/${socketName}`, { path: `${own}/${socketName}`, secret }, done));
}

/** Upper limit for a start on a host whose processors are busy with others, as a multiple of the time limit. */
const maxRounds = 3;

/** Resolves when a start has used its time: more than `startTimeoutMs` only if the host had no processor for it. */
async function tooLate(
  running: RunningProcess,
  startTimeoutMs: number,
  signal: AbortSignal,
): Promise<Omit<LateStart, "stack">> {
  const before = await running.processorUse();
  for (let round = 1; ; round++) {
    await sleep(startTimeoutMs, undefined, { signal });
    const now = await running.processorUse();
    const afterMs = round * startTimeoutMs;
    const isHostBusy = (loadavg()[0] ?? 0) > availableParallelism();
    const measured = { before, now, elapsedMs: afterMs, enoughMs: startTimeoutMs / 2, isHostBusy };
    const activity = activityOf(measured);
    const processorMs = Math.max(0, now.usedMs - before.usedMs);
    if (activity !== "starved" || round === maxRounds) return { activity, afterMs, processorMs };
  }
}

const maxDumpMs = 2_000;

/** The stack of a server that isn't ready, which must be running. */
async function askForStack(running: RunningProcess, directory: SocketDirectory): Promise<LateStart["stack"]> {
  await running.signal(dumpSignal);
  const path = `${directory.shared}/${dumpName(statusName)}`;
  let stack: LateStart["stack"] = [];
  for (const until = performance.now() + maxDumpMs; performance.now() < until; await sleep(pollMs)) {
    const dump = await readStackDump(path);
    stack = dump?.stack ?? stack;
    // Code that never returns to the interpreter leaves the dump without an end.
    if (dump?.isWhole) break;
  }
  return stack;
}

/** The first result of `look`, or how the process ended without one. `tooLate`: resolves when the time is up. */
export async function outcomeOf<Status extends object>(
  directory: SocketDirectory,
  ended: Promise<Exit>,
  tooLate: (done: AbortSignal) => Promise<unknown>,
  look: (done: AbortSignal) => Promise<Status | null>,
): Promise<Status | "exited" | "timeout"> {
  const outcome = Promise.withResolvers<Status | "exited" | "timeout">();
  const looking = new AbortController();
  const lookOnce = async () => {
    const status = await look(looking.signal);
    if (status !== null) outcome.resolve(status);
  };
  // It may have written its status just before it exited.
  void ended.then(lookOnce).then(() => outcome.resolve("exited"));
  tooLate(looking.signal).then(
    () => outcome.resolve("timeout"),
    (error: unknown) => (looking.signal.aborted ? undefined : outcome.reject(error)),
  );
  void checkOnChanges(directory.shared, lookOnce, looking.signal);
  try {
    return await outcome.promise;
  } finally {
    looking.abort();
  }
}

/**
 * Checks at once, and again when something in the directory changes or after `pollMs`. Pauses between checks, longer
 * each time, so that a server that writes endlessly doesn't keep the platform busy.
 */
async function checkOnChanges(path: string, look: () => Promise<void>, done: AbortSignal): Promise<void> {
  for (let pauseMs = 1; !done.aborted; pauseMs = Math.min(pauseMs + 1, maxPauseMs)) {
    // From before the look, so that no change is missed.
    const change = firstChange(path);
    await look();
    await Promise.race([change.happened, sleep(pollMs)]);
    change.stopWaiting();
    await sleep(pauseMs);
  }
}

/** Reports only the first change: each further one would cost a call. */
function firstChange(path: string): { readonly happened: Promise<void>; stopWaiting(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let watcher: FSWatcher | null = null;
  try {
    watcher = watch(path, () => {
      watcher?.close();
      resolve();
    });
    watcher.on("error", () => {});
  } catch {
    // No more inotify instances: the poll finds it.
  }
  return { happened: promise, stopWaiting: () => watcher?.close() };
}

function instanceHandle(
  instanceId: string,
  endpoint: ServerEndpoint,
  running: RunningProcess,
  exited: Promise<Exit>,
  frozen: { is: boolean },
): InstanceHandle {
  let stopping: Promise<Exit> | null = null;
  const wake = async () => {
    if (!frozen.is) return;
    await running.wake();
    frozen.is = false;
  };
  const stop = async (): Promise<Exit> => {
    let ended = false;
    void running.ended.then(() => {
      ended = true;
    });
    await Promise.resolve();
    if (ended) return await exited;
    await wake();
    await running.signal("SIGTERM");
    return { ...(await exited), reason: "stopped" };
  };
  return {
    instanceId,
    endpoint,
    isAlive: () => running.isAlive(),
    exited: exited.then((exit) => (stopping === null ? exit : { ...exit, reason: "stopped" })),
    async freeze() {
      if (!frozen.is) frozen.is = await running.freeze();
      return frozen.is;
    },
    wake,
    stop(graceMs) {
      stopping ??= stop();
      // The shortest grace period counts: a platform that stops must not wait for an earlier, longer one.
      const timer = setTimeout(() => void running.kill(), graceMs);
      void exited.then(() => clearTimeout(timer));
      return stopping;
    },
    memoryBytes: () => running.memoryBytes(),
  };
}
