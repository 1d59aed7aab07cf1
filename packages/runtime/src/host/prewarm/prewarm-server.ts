import { setTimeout as sleep } from "node:timers/promises";
import type { Limits, OutputSink } from "../../port/execution.ts";
import { heldOutput } from "../../port/held-output.ts";
import type { PrewarmObstacle, StartResult } from "../../port/servers.ts";
import type { SandboxSpec } from "../engine.ts";
import { type FloodLimits, floodGate } from "../process/flood.ts";
import type { RunningProcess, Spawner } from "../process/running-process.ts";
import { readPrewarmStatus } from "../server/harness-status.ts";
import { runtimeDirectory, statusName } from "../server/server-spec.ts";
import { awaitServer, newSecret, outcomeOf, type SocketDirectory } from "../server/start-server.ts";

/** An interpreter's command and the directory of its later socket. */
export type PrewarmLaunch = {
  readonly sandbox: SandboxSpec;
  readonly socketDirectory: string;
  readonly startTimeoutMs: number;
  /** What it may be forked from, where this host can. */
  readonly parent?: ParentLaunch;
};

/** An interpreter that has the same imports, and forks. It never becomes a server. */
export type ParentLaunch = {
  /** Equal for all that can be forked from the same one. */
  readonly kind: string;
  /** Only if it is there already: the other way takes a second. */
  readonly required: boolean;
  /** The platform's Python on the host. */
  readonly python: string;
  /** Prepares one that is not there. */
  readonly make: () => Promise<Pick<PrewarmLaunch, "sandbox" | "socketDirectory">>;
  /** Removes what `make` has made. */
  readonly remove: () => Promise<void>;
};

/** The server that an interpreter is to become. */
type ClaimLaunch = {
  readonly instanceId: string;
  readonly limits: Limits;
  /** What the harness gets: the environment and the arguments of an ordinary start. */
  readonly env: Readonly<Record<string, string>>;
  readonly arguments: readonly string[];
  readonly startTimeoutMs: number;
  readonly memo?: string;
  /** Puts the code where the sandbox sees it; false if there is too much of it. */
  readonly placeCode: () => Promise<boolean>;
};

export type WaitingInterpreter = {
  readonly running: RunningProcess;
  /** Its process has ended, and its directory is removed unless it became a server. */
  readonly gone: Promise<void>;
  /** Passes on what it has printed, and keeps it. */
  readonly copyOutput: (to: OutputSink) => void;
  /** See `Prewarmed`. */
  claim(launch: ClaimLaunch, onOutput: OutputSink): Promise<StartResult | { readonly obstacle: PrewarmObstacle }>;
  end(): Promise<void>;
};

export type PrewarmOutcome =
  | { readonly ok: true; readonly interpreter: WaitingInterpreter; readonly withoutForks?: string }
  | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

/**
 * Starts an interpreter, waits until it has imported the frameworks, and freezes it. Used by all engines of this host.
 * `earlier`: passes on the output of the one that it is forked from.
 */
export async function prewarmServer(
  spawn: Spawner,
  directory: SocketDirectory,
  launch: PrewarmLaunch,
  floodLimits: FloodLimits,
  earlier: (to: OutputSink) => void = () => {},
): Promise<PrewarmOutcome> {
  const output = heldOutput();
  earlier(output.sink);
  const gate = floodGate(output.sink, floodLimits);
  const mount = { host: directory.shared, inside: runtimeDirectory, writable: true };
  const { sandbox } = launch;
  let running: RunningProcess;
  try {
    running = await spawn({ ...sandbox, mounts: [...sandbox.mounts, mount], input: true }, { onLine: gate.line, gate });
  } catch (error) {
    await directory.remove();
    throw error;
  }
  const status = await outcomeOf(
    directory,
    running.ended,
    (signal) => sleep(launch.startTimeoutMs, undefined, { signal }),
    () => readPrewarmStatus(`${directory.shared}/${statusName}`),
  );
  let isServer = false;
  // For any end. A server's directory is removed by its supervisor, which reads its last status first.
  const gone = running.ended.then(() => (isServer ? undefined : directory.remove().catch(() => {})));
  const interpreter: WaitingInterpreter = {
    running,
    gone,
    copyOutput: output.copyTo,
    async claim(claimed, onOutput) {
      const secret = newSecret();
      const obstacle = await becomeServer(running, claimed, secret);
      if (obstacle !== null) {
        await end(running, directory);
        return { obstacle };
      }
      isServer = true;
      const startedAt = performance.now();
      output.passOn(onOutput);
      return await awaitServer(running, directory, { ...claimed, secret, startedAt }, gate);
    },
    end: () => end(running, directory),
  };
  if (typeof status !== "string" && status.state === "prewarmed" && (await running.freeze()))
    return { ok: true, interpreter };
  await interpreter.end();
  if (typeof status !== "string" && status.state === "unsuitable")
    return { ok: false, reason: status.reason, isFinal: true };
  const ending = status === "timeout" ? "it took too long" : "it ended";
  return { ok: false, reason: output.last() ?? ending, isFinal: false };
}

/** Null if it continues as the server. */
async function becomeServer(
  running: RunningProcess,
  claimed: ClaimLaunch,
  secret: string,
): Promise<PrewarmObstacle | null> {
  if (!(await running.isAlive())) return "ended";
  const memoryBytes = await running.memoryBytes();
  if (memoryBytes === null || memoryBytes >= claimed.limits.memoryBytes) return "memory";
  // Before it runs: from its first instruction on it has the server's limits.
  if (!(await running.limit(claimed.limits))) return "memory";
  if (!(await claimed.placeCode())) return "code_size";
  await running.wake();
  running.sendInput(JSON.stringify({ env: claimed.env, arguments: claimed.arguments, secret }));
  return null;
}

async function end(running: RunningProcess, directory: SocketDirectory): Promise<void> {
  await running.kill();
  await running.ended;
  await directory.remove().catch(() => {});
}
