import type { Transaction } from "@towpath/db";
import { branch, build, deployment, project, recordedAnswers } from "@towpath/db/schema";
import type { RecordedAnswers } from "@towpath/mcp/manifest";
import { eq, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { chooseLabel, lockLabels } from "../../projects/label/index.ts";
import { storeServerIcon, type TakenIcon } from "../../projects/server-icon/internal.ts";
import { mcpUrl } from "../../projects/server-url/index.ts";
import { environmentOf } from "../branch/index.ts";
import type {
  BuildManifest,
  BuildTimings,
  BuildWarning,
  Layers,
  Program,
  Resolution,
} from "../build/build-contract.schema.ts";
import { isCurrentAttempt, storableWarning } from "../build/internal.ts";

export type BuildOutcome = {
  readonly buildId: string;
  readonly attempt: number;
  readonly layers: Layers;
  /** Null when it isn't known, as of layers that are taken over: what the row has stays. */
  readonly resolution: Resolution | null;
  readonly program: Program;
  /** Null when the server's lists could not be read. */
  readonly manifest: BuildManifest;
  /** Null when the server names none that can be shown. */
  readonly icon: TakenIcon | null;
  /** What gateways can answer while the server is asleep (GW-12); null when it couldn't be recorded. */
  readonly recording: { readonly answers: RecordedAnswers; readonly variesBy: string | null } | null;
  readonly warnings: readonly BuildWarning[];
  /** Whether the server refused a caller without credentials. */
  readonly ownSignIn: boolean;
  readonly timings: BuildTimings;
};

export type NewDeployment = {
  readonly deploymentId: string;
  readonly label: string;
  readonly url: string;
  readonly environment: "production" | "preview";
};

/**
 * Stores a build's result and creates its deployment, which can be started but isn't live yet. Idempotent for the
 * build's current attempt; null for another attempt, whose worker must stop.
 */
export async function createDeployment({ ctx, input }: Call<BuildOutcome>): Promise<NewDeployment | null> {
  authorizePlatform(ctx);
  // A manifest can be a megabyte, so write it before taking the lock that all organizations share.
  if (!(await storeOutcome(ctx, input))) return null;
  return ctx.db.transaction(async (tx) => {
    await lockLabels(tx);
    const [current] = await tx
      .select({ id: build.id, projectId: build.projectId, branchId: build.branchId })
      .from(build)
      .where(isCurrentAttempt(input))
      .for("no key update");
    return current ? deploymentOf(tx, ctx, current) : null;
  });
}

function storeOutcome(ctx: Context, input: BuildOutcome): Promise<boolean> {
  return ctx.db.transaction(async (tx) => {
    const stored = await tx
      .update(build)
      .set({
        layers: input.layers,
        ...(input.resolution && { resolution: input.resolution }),
        program: input.program,
        manifest: input.manifest,
        warnings: input.warnings.map(storableWarning),
        ownSignIn: input.ownSignIn,
        iconHash: input.icon?.hash ?? null,
        timings: input.timings,
        updatedAt: sql`now()`,
      })
      .where(isCurrentAttempt(input))
      .returning({ projectId: build.projectId });
    const [{ projectId } = { projectId: null }] = stored;
    if (projectId === null) return false;
    if (input.icon) await storeServerIcon(tx, projectId, input.icon, ctx.clock.now());
    await storeRecording(tx, input);
    return true;
  });
}

/** Replaces what an earlier attempt of the build has recorded. */
async function storeRecording(tx: Transaction, { buildId, recording }: BuildOutcome): Promise<void> {
  await tx.delete(recordedAnswers).where(eq(recordedAnswers.buildId, buildId));
  if (recording === null) return;
  const answers = JSON.stringify(recording.answers);
  const { variesBy } = recording;
  await tx.insert(recordedAnswers).values({ buildId, answers, bytes: Buffer.byteLength(answers), variesBy });
}

async function deploymentOf(
  tx: Transaction,
  ctx: Context,
  current: { readonly id: string; readonly projectId: string; readonly branchId: string },
): Promise<NewDeployment | null> {
  const [of] = await tx
    .select({ branch, projectName: project.name })
    .from(branch)
    .innerJoin(project, eq(project.id, branch.projectId))
    .where(eq(branch.id, current.branchId));
  if (!of) return null;
  const environment = environmentOf(of.branch);
  const label = await chooseLabel(tx, {
    projectId: current.projectId,
    projectName: of.projectName,
    branch: of.branch,
  });
  const [row] = await tx
    .insert(deployment)
    .values({
      id: newId(),
      projectId: current.projectId,
      branchId: current.branchId,
      buildId: current.id,
      environment,
      slug: label,
      createdAt: ctx.clock.now(),
    })
    // An earlier attempt created the deployment and was lost before going live.
    .onConflictDoUpdate({ target: deployment.buildId, set: { slug: label } })
    .returning({ id: deployment.id });
  return row ? { deploymentId: row.id, label, url: mcpUrl(ctx.serverUrlTemplate, label), environment } : null;
}
