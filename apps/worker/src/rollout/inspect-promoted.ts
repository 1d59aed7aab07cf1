import type { Builder, BuildRequest, BuildResult } from "@towpath/builder";
import type { TakenBuild } from "@towpath/core/build";
import type { Layers } from "@towpath/core/build/contract";
import type { Context } from "@towpath/core/context";
import { createDeployment } from "@towpath/core/deployment";
import { type RunnerClient, RunnerError, type ServerEndpoint } from "@towpath/runner-api";

export type PromotionInput = {
  readonly ctx: Context;
  readonly taken: TakenBuild;
  readonly request: BuildRequest;
  readonly builder: Pick<Builder, "inspect">;
  readonly runner: Pick<RunnerClient, "ensure">;
};

/**
 * Inspects a promotion's server where it will run, so that it starts once: the rollout finds it ready. The preview's
 * manifest won't do, because what a server offers, and what a gateway may answer while it sleeps, can depend on
 * production's variables (RUN-4).
 *
 * @returns null for a build that is no promotion, when a layer is no longer stored, and when the server doesn't start
 *   there, doesn't answer or does its own sign-in: then the usual build follows, which says what is wrong
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
    timings: {},
  };
  const made = await createDeployment({ ctx, input: { buildId, attempt, layers, program, ...nothingKnown } });
  // Another worker has the build; the next write finds that out, too.
  if (!made) return null;
  try {
    return (await runner.ensure(made.deploymentId, { signal: request.signal })).endpoint;
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof RunnerError) return null;
    throw error;
  }
}
