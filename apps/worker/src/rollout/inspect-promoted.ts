import type { Builder, BuildRequest, BuildResult } from "@towpath/builder";
import type { Context } from "@towpath/core/context";
import type { TakenBuild } from "@towpath/core/delivery/build";
import type { Layers } from "@towpath/core/delivery/build/contract";
import { createDeployment } from "@towpath/core/delivery/deployment";
import { type RunnerClient, RunnerError, type ServerEndpoint } from "@towpath/runner-api";
import { inSpan } from "@towpath/telemetry/trace";

export type PromotionInput = {
  readonly ctx: Context;
  readonly taken: TakenBuild;
  readonly request: BuildRequest;
  readonly builder: Pick<Builder, "inspect">;
  readonly runner: Pick<RunnerClient, "ensure">;
};

/**
 * Inspects a promotion's server where it will run, so that it starts only once: the rollout finds it ready. The
 * preview's manifest can't be reused, because the server's lists can depend on production's variables (RUN-4).
 *
 * @returns null for a build that is no promotion, when a layer is no longer stored, and when the server doesn't start,
 *   doesn't answer or has its own sign-in: then the usual build follows, which diagnoses the failure
 */
export async function inspectPromoted(input: PromotionInput): Promise<BuildResult | null> {
  const { request, builder } = input;
  const { layers } = request;
  return layers && builder.inspect(request, () => start(input, layers));
}

async function start({ ctx, taken, request, runner }: PromotionInput, layers: Layers): Promise<ServerEndpoint | null> {
  const { buildId, attempt } = taken;
  const program = { entrypoint: taken.entrypoint, arguments: [...taken.arguments] };
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
  if (!made) return null;
  try {
    const { signal } = request;
    return (await inSpan("start", () => runner.ensure(made.deploymentId, { signal }))).endpoint;
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof RunnerError) return null;
    throw error;
  }
}
