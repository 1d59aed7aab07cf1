import { RunnerError } from "@towpath/runner-api";
import {
  type Exit,
  type InstanceSpec,
  type LateStart,
  type Limits,
  type OutputSink,
  SandboxError,
  type StartResult,
} from "@towpath/runtime";
import type { InstanceTiming } from "../config.ts";
import { DeploymentUnusable } from "../deployments/server-of-deployment.ts";
import type { ServerIdentity } from "../prewarm/demand.ts";
import type { Instance, OpenedDeployment } from "./instance.ts";

export type LaunchParts = {
  /** Like the driver's `start`, or one that uses prewarmed interpreters. */
  readonly start: (server: ServerIdentity, spec: InstanceSpec, onOutput: OutputSink) => Promise<StartResult>;
  readonly timing: InstanceTiming;
  /** When a deployment's lost layers are rebuilt; null: now. */
  readonly nextRebuild: (deploymentId: string) => Promise<Date | null>;
  /** Receives the platform's own errors, for its log; users see only a general message. */
  readonly onError: (error: unknown) => void;
};

/** Why an instance didn't start, for its owner. */
export type LaunchFailure = {
  readonly code: "start_failed" | "layers_lost" | "isolation_unavailable" | "ended" | "unavailable";
  readonly reason: string;
  readonly exit: Exit | null;
  /** What it was doing when it was neither ready nor had failed within the limit; null for other failures. */
  readonly late: LateStart | null;
  /** When lost layers are rebuilt; null: now, or they aren't lost. */
  readonly rebuildAt?: Date | null;
};

/** The limits that may end a server. */
export type ServerLimits = Pick<Limits, "memoryBytes" | "processes">;

/** Errors whose messages may be shown to users, with the codes that lease callers get. */
const publicErrors: Readonly<Partial<Record<SandboxError["code"], LaunchFailure["code"]>>> = {
  isolation_unavailable: "isolation_unavailable",
  network_unavailable: "isolation_unavailable",
  layer_unavailable: "layers_lost",
  python_unavailable: "start_failed",
  data_unavailable: "start_failed",
  no_room: "start_failed",
};

/** Why a server ended with the shim. */
const platformEnded = "the process of Towpath that all servers here run under ended";
/** Signals that people and systems send to stop a program. */
const stopSignals: ReadonlySet<string> = new Set(["SIGTERM", "SIGINT", "SIGHUP"]);

/** Whether a server was stopped, by the platform or from outside, or ended normally: not a crash. */
export function wasStopped({ reason, code, signal }: Exit): boolean {
  if (reason === "signaled") return stopSignals.has(signal ?? "");
  return reason === "stopped" || reason === "platform-ended" || (reason === "exited" && code === 0);
}
const unavailable = "what runs servers can't be reached";
const sandboxFailed = "its sandbox could not be set up. Try again; if it keeps failing, ask the operator.";

/** @throws RunnerError, whose message is for callers, for a deployment that can't be started */
export async function openOrRefuse(open: () => Promise<OpenedDeployment>): Promise<OpenedDeployment> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof DeploymentUnusable) throw new RunnerError("start_failed", error.message);
    throw error;
  }
}

/** For callers of a start that was stopped, by the runner's end or with the shim, or of one in an outage. */
export function startInterrupted(isClosing: boolean, { code, reason }: LaunchFailure): RunnerError {
  if (!isClosing && code === "unavailable")
    return new RunnerError(code, `The server can't be started at the moment: ${reason}.`, { retryAfterMs: 2000 });
  return new RunnerError(isClosing ? "stopping" : "ended", "The server was stopped while it was starting.", {
    retryAfterMs: 1000,
  });
}

/** Starts an instance. Null when it is ready. */
export async function launch(
  instance: Instance,
  opened: OpenedDeployment,
  server: Omit<ServerIdentity, "label">,
  { start, timing, nextRebuild, onError }: LaunchParts,
): Promise<LaunchFailure | null> {
  try {
    const result = await start(
      { ...server, label: opened.label },
      {
        instanceId: instance.id,
        server: opened.server,
        startTimeoutMs: timing.startTimeoutMs,
        ...(opened.memo === undefined ? {} : { memo: opened.memo }),
      },
      instance.output(),
    );
    if (result.ok) {
      instance.ready(result);
      return null;
    }
    if (result.exit?.reason === "platform-ended")
      return { code: "ended", reason: result.exit.detail ?? platformEnded, exit: result.exit, late: null };
    const reason = describeStartFailure(result, instance.limits);
    return { code: "start_failed", reason, exit: result.exit, late: result.cause === "timeout" ? result.late : null };
  } catch (error) {
    onError(error);
    const code = error instanceof SandboxError ? publicErrors[error.code] : undefined;
    const nothingRan = { exit: null, late: null };
    if (error instanceof SandboxError && error.code === "platform_ended")
      return { code: "ended", reason: platformEnded, ...nothingRan };
    if (error instanceof SandboxError && error.code === "unreachable")
      return { code: "unavailable", reason: unavailable, ...nothingRan };
    if (code !== undefined && error instanceof Error) {
      const rebuildAt = code === "layers_lost" ? await nextRebuild(server.deploymentId).catch(() => null) : null;
      return { code, reason: error.message, ...nothingRan, rebuildAt };
    }
    return { code: "start_failed", reason: sandboxFailed, ...nothingRan };
  }
}

/** How a server ended, for its owner. */
export function describeExit(exit: Exit | null, { memoryBytes, processes }: ServerLimits): string {
  if (exit === null) return "it ended";
  switch (exit.reason) {
    case "out-of-memory":
      return `it used more than its ${Math.round(memoryBytes / (1024 * 1024))} MiB of memory`;
    case "process-limit":
      return (
        `it was stuck at its limit of ${processes} processes and threads for 10 s and was ended. Limit what it starts ` +
        "(pools, threads, subprocesses), or ask the operator to raise TOWPATH_SERVER_PROCESSES"
      );
    case "platform-ended":
      return exit.detail ?? platformEnded;
    case "signaled":
      return `it was killed by ${exit.signal}`;
    case "exited":
      return `it exited with status ${exit.code}`;
    default:
      return `it ended (${exit.reason})`;
  }
}

const activities: Readonly<Record<LateStart["activity"], string>> = {
  starved: "the host's processors were busy with others",
  busy: "it computes or loops",
  waiting: "it waits",
};

function describeLateStart({ activity, afterMs, stack: [at] }: LateStart): string {
  const where = at?.isOwn && activity !== "starved" ? ` at ${at.file} line ${at.line}` : "";
  return `it did not answer within ${Math.round(afterMs / 1000)} s: ${activities[activity]}${where}`;
}

/** Why a server didn't start, for its owner. */
function describeStartFailure(result: Extract<StartResult, { ok: false }>, limits: ServerLimits): string {
  if (result.status !== null) return result.status.message;
  if (result.cause === "timeout") return describeLateStart(result.late);
  return describeExit(result.exit, limits);
}
