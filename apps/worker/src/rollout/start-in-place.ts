import type { LateServer, StartedServer } from "@towpath/builder";
import type { Context } from "@towpath/core/context";
import type { TakenBuild } from "@towpath/core/delivery/build";
import type { Layers, Program } from "@towpath/core/delivery/build/contract";
import { createDeployment, withdrawDeployment } from "@towpath/core/delivery/deployment";
import { type RunnerClient, RunnerError } from "@towpath/runner-api";
import { inSpan } from "@towpath/telemetry/trace";

export type InPlace = {
  readonly ctx: Context;
  readonly taken: TakenBuild;
  readonly runner: Pick<RunnerClient, "ensure" | "stop">;
};

/**
 * Starts a build's server where it will run, before its inspection: the rollout finds it ready. Null when it doesn't
 * start, or the results of its start are unknown; then no deployment of it remains.
 * @throws the reason of `signal` when it is aborted; no deployment remains then either
 */
export async function startInPlace(
  { ctx, taken, runner }: InPlace,
  { layers, program }: { readonly layers: Layers; readonly program: Program },
  signal: AbortSignal,
): Promise<StartedServer | LateServer | null> {
  const { buildId, attempt } = taken;
  const nothingKnown = {
    resolution: null,
    manifest: null,
    recording: null,
    warnings: [],
    ownSignIn: false,
    icon: null,
    timings: {},
  };
  const made = await createDeployment({ ctx, input: { buildId, attempt, layers, program, ...nothingKnown } });
  // Another worker took the build; the next write notices it.
  if (made === null) return null;
  const withdraw = async () => {
    // A worker that lost the build must not stop the new owner's server, which may be live by now.
    if (!(await withdrawDeployment({ ctx, input: { buildId, attempt } }))) return;
    // Its start may still be under way. Without its deployment the runner stops it sooner or later anyway.
    void runner.stop(made.deploymentId).catch(() => {});
  };
  try {
    const { endpoint, waitedMs, shown } = await inSpan("start", () => runner.ensure(made.deploymentId, { signal }));
    if (shown !== undefined) {
      const { output, bridge, incomplete } = shown;
      const found = { ...(bridge && { bridge }), ...(incomplete && { incomplete }) };
      return { endpoint, startMs: waitedMs, output, ...found, withdraw };
    }
  } catch (error) {
    await withdraw();
    signal.throwIfAborted();
    if (!(error instanceof RunnerError)) throw error;
    const { timedOut } = error;
    return timedOut && { endpoint: null, output: timedOut.output, late: timedOut.late ?? null };
  }
  await withdraw();
  return null;
}
