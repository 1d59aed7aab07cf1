import { setTimeout as sleep } from "node:timers/promises";
import type { BuildLogSink, BuildResult } from "@towpath/builder";
import type { Context } from "@towpath/core/context";
import type { TakenBuild } from "@towpath/core/delivery/build";
import type { BuildTimings, Diagnosis } from "@towpath/core/delivery/build/contract";
import { createDeployment, type GoLiveResult, goLive } from "@towpath/core/delivery/deployment";
import { readServerIcon, type TakenIcon } from "@towpath/core/projects/server-icon";
import { type LeasedInstance, type RunnerClient, RunnerError, type RunnerErrorCode } from "@towpath/runner-api";
import { inSpan } from "@towpath/telemetry/trace";

export type RolloutResult =
  | { readonly ok: true; readonly result: GoLiveResult; readonly timings: BuildTimings }
  | { readonly ok: false; readonly diagnosis: Diagnosis };

export type RolloutInput = {
  readonly ctx: Context<"externalServers">;
  readonly taken: TakenBuild;
  readonly built: Extract<BuildResult, { ok: true }>;
  readonly runner: RunnerClient;
  readonly log: BuildLogSink;
  /** Flushes the build's log, so that it is complete before the build counts as live. */
  readonly flushLog: () => Promise<void>;
  readonly signal: AbortSignal;
};

/**
 * Makes a built commit live: creates the deployment, starts its server where it will run, waits until it answers at
 * /mcp, and only then moves the route (BLD-10). The server that was live before keeps running while requests or sessions
 * use it; the runner stops it soon after.
 */
export async function rollOut(input: RolloutInput): Promise<RolloutResult> {
  const { ctx, taken, built, log, signal } = input;
  const startedAt = performance.now();
  const fence = { buildId: taken.buildId, attempt: taken.attempt };
  const { layers, resolution, program, manifest, recording, warnings, ownSignIn, timings } = built;
  const icon = await takeIcon(input);
  const outcome = { layers, resolution, program, manifest, icon, recording, warnings, ownSignIn, timings };
  const made = await createDeployment({ ctx, input: { ...fence, ...outcome } });
  if (!made) return { ok: true, result: { outcome: "lost" }, timings };
  log("rollout", "step", `Starting the server where it will run, before any request reaches it (${made.environment}).`);
  try {
    const { waitedMs } = await inSpan("verify", () => startServer(input, made.deploymentId));
    log("rollout", "result", `Answers after ${Math.round(waitedMs)} ms`);
  } catch (error) {
    // Its build is queued again.
    if (error instanceof RunnerError && error.code === "unavailable") throw error;
    if (error instanceof RunnerError) return { ok: false, diagnosis: notStarted(error) };
    throw error;
  }
  await input.flushLog();
  signal.throwIfAborted();
  const all = { ...timings, rollout: Math.round(performance.now() - startedAt) };
  const result = await inSpan("move route", () => goLive({ ctx, input: { ...fence, timings: all } }));
  return { ok: true, result, timings: all };
}

/** The server's icon, once: no browser loads it from elsewhere. Without one the build goes on, and its log says why. */
async function takeIcon({ ctx, built, log }: RolloutInput): Promise<TakenIcon | null> {
  const { icon, problem } = await readServerIcon(ctx, built.icons);
  if (problem !== null) log("rollout", "step", `The server's icon can't be shown: ${problem}`);
  return icon;
}

/** How long a rollout waits for a runner that restarts, or for a place on a full host. */
const maxWaitMs = 30_000;
const defaultPauseMs = 500;
const maxPauseMs = 2_000;

/** @throws RunnerError when the server does not answer, or when the wait for the runner or a place was in vain */
async function startServer({ runner, log, signal }: RolloutInput, deploymentId: string): Promise<LeasedInstance> {
  const deadline = performance.now() + maxWaitMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await runner.verify(deploymentId, { signal });
    } catch (error) {
      if (!(error instanceof RunnerError) || !isWorthWaiting(error) || performance.now() > deadline) throw error;
      if (attempt === 1) log("rollout", "warning", `Waiting for the runner: ${error.message}`);
      await sleep(Math.min(error.retryAfterMs ?? defaultPauseMs, maxPauseMs), undefined, { signal });
    }
  }
}

/** A server that crashes repeatedly fails its build, even if another start might succeed. */
const isWorthWaiting = ({ code, waitHelps }: RunnerError) => waitHelps && code !== "crash_backoff";

type Explanation = { readonly title: string; readonly remedy: string };

const seeServerLog = "The server log of this deployment says why. Correct the code or its variables.";
const explanations: Readonly<Partial<Record<RunnerErrorCode, Explanation>>> = {
  start_failed: {
    title: "The server did not start for its deployment",
    remedy: "The server log of this deployment says why: correct the cause, then rebuild.",
  },
  ended: { title: "The server exited right after it started", remedy: seeServerLog },
  crash_backoff: { title: "The server keeps crashing after it starts", remedy: seeServerLog },
  no_answer: {
    title: "The server started and did not answer",
    remedy: "Look at the server log of this deployment: something blocks its event loop after startup.",
  },
  capacity: {
    title: "This machine has no capacity for another server",
    remedy: "Rebuild when others are idle, or ask the operator for more memory.",
  },
  isolation_unavailable: {
    title: "This machine cannot isolate servers",
    remedy: "Ask the operator: ./towpath up prints what this machine lacks. Then rebuild.",
  },
  unreachable: {
    title: "The part of Towpath that runs servers cannot be reached",
    remedy: "Rebuild in a minute. If the problem persists, the operator finds the cause in the runner's log.",
  },
  stopping: {
    title: "The part of Towpath that runs servers was being restarted",
    remedy: "Rebuild in a minute.",
  },
};
const unexplained: Explanation = {
  title: "The server could not be started for its deployment",
  remedy: "Rebuild. If the problem persists, ask the operator.",
};
const forOperator: ReadonlySet<RunnerErrorCode> = new Set(["isolation_unavailable"]);
/** The server's own failures: it had started. A failed start may be due to a busy host. */
const ownFailures: ReadonlySet<RunnerErrorCode> = new Set(["ended", "crash_backoff", "no_answer"]);
const serversOwnFault: ReadonlySet<RunnerErrorCode> = new Set(["start_failed", "ended", "crash_backoff"]);

/** The server passed the inspection but didn't start where it is to run. */
function notStarted({ code, message }: RunnerError): Diagnosis {
  return {
    code: serversOwnFault.has(code) ? "exited_early" : "internal_error",
    phase: "rollout",
    detail: code === "unreachable" ? `Towpath tried for ${maxWaitMs / 1000} seconds: ${message}.` : message,
    ...(explanations[code] ?? unexplained),
    action: ownFailures.has(code)
      ? { kind: "code", path: null }
      : { kind: forOperator.has(code) ? "operator" : "rebuild" },
    file: null,
    line: null,
    excerpt: null,
  };
}
