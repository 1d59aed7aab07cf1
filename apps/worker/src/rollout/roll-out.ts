import { setTimeout as sleep } from "node:timers/promises";
import type { BuildLogSink, BuildResult } from "@towpath/builder";
import type { TakenBuild } from "@towpath/core/build";
import type { Diagnosis } from "@towpath/core/build/contract";
import type { Context } from "@towpath/core/context";
import { createDeployment, type GoLiveResult, goLive } from "@towpath/core/deployment";
import type { BuildLogWriter } from "../jobs/build-log.ts";
import { notStarted } from "../jobs/diagnoses.ts";
import type { LeaseResult, RunnerClient } from "./runner-client.ts";

export type RolloutResult =
  | { readonly ok: true; readonly result: GoLiveResult }
  | { readonly ok: false; readonly diagnosis: Diagnosis };

/** How long a runner that restarts or has no room at the moment is waited for. */
const patienceMs = 30_000;
const passing = new Set(["unreachable", "capacity", "stopping"]);

/**
 * Makes a built commit live: deployment, real start where it will run, an answer on its socket, and only then the
 * move of the route (BLD-10). The server that was live before is not touched: it drains while clients hold it and
 * goes to sleep when nobody does.
 */
export async function rollOut(input: {
  readonly ctx: Context;
  readonly taken: TakenBuild;
  readonly built: Extract<BuildResult, { ok: true }>;
  readonly runner: RunnerClient;
  readonly writer: BuildLogWriter;
  readonly signal: AbortSignal;
}): Promise<RolloutResult> {
  const { ctx, taken, built, runner, writer, signal } = input;
  const { log } = writer;
  const startedAt = performance.now();
  const fence = { buildId: taken.buildId, attempt: taken.attempt };
  const made = await createDeployment({
    ctx,
    input: {
      ...fence,
      layers: built.layers,
      manifest: built.manifest,
      warnings: built.warnings,
      timings: built.timings,
    },
  });
  if (!made) return { ok: true, result: { outcome: "lost" } };
  log("rollout", "step", `Starting the server where it will run, before any request reaches it (${made.environment}).`);
  const started = await startAndAsk(runner, made.deploymentId, log, signal);
  if (!started.ok) return { ok: false, diagnosis: notStarted(started.code, started.message) };
  log("rollout", "step", `It answers, after ${Math.round(started.lease.waitedMs)} ms.`);
  await writer.flush();
  signal.throwIfAborted();
  const timings = { ...built.timings, rollout: Math.round(performance.now() - startedAt) };
  return { ok: true, result: await goLive({ ctx, input: { ...fence, timings } }) };
}

/** A lease on a server that has answered. */
async function startAndAsk(
  runner: RunnerClient,
  deploymentId: string,
  log: BuildLogSink,
  signal: AbortSignal,
): Promise<LeaseResult> {
  const first = await leaseWithPatience(runner, deploymentId, log, signal);
  if (!first.ok || (await runner.answers(first.lease.socketPath, signal))) return first;
  // On a full host leases are short: it may have given its place away before it was asked. Then this is another one.
  const second = await leaseWithPatience(runner, deploymentId, log, signal);
  if (!second.ok) return second;
  const isSame = second.lease.instanceId === first.lease.instanceId;
  if (!isSame && (await runner.answers(second.lease.socketPath, signal))) return second;
  return { ok: false, code: "no_answer", message: "It did not answer at /mcp within 10 seconds.", retryAfterMs: null };
}

async function leaseWithPatience(
  runner: RunnerClient,
  deploymentId: string,
  log: BuildLogSink,
  signal: AbortSignal,
): Promise<LeaseResult> {
  const end = performance.now() + patienceMs;
  for (let round = 0; ; round++) {
    const result = await runner.lease(deploymentId, signal);
    if (result.ok || !passing.has(result.code) || performance.now() > end) return result;
    if (round === 0) log("rollout", "warning", `Waiting for the runner: ${result.message}`);
    await sleep(Math.min(result.retryAfterMs ?? 500, 2_000), undefined, { signal });
  }
}
