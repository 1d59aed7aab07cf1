import type { Transaction } from "@towpath/db";
import { deploymentApproval } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { actingUserId } from "../../authorize/index.ts";
import type { Call, Context, ProjectAccess } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { lockLabels } from "../../projects/label/index.ts";
import { enqueueReport, lockBranch } from "../branch/index.ts";
import { auditedVersion, writeToBuildLog } from "../build/internal.ts";
import { readPolicy, requireApprover } from "../gradual-release/internal.ts";
import { findApproval } from "./approval.store.ts";
import type { DeploymentView } from "./deployment.view.ts";
import { authorizeDeployment, getDeployment } from "./get-deployment.ts";
import { putLive } from "./go-live.ts";
import { requireServerHost } from "./server-host.ts";

type Input = { readonly deploymentId: string };

/**
 * Approves a deployment to production that waits (CAP-8): it goes live, or is released gradually, once its server has
 * answered.
 *
 * @throws TowpathError `conflict` when it doesn't wait, its server doesn't start, or a newer version is live; `forbidden`
 *   for roles below that of the project's setting; `not_found`; `upstream_unavailable`; `not_configured`
 */
export async function approveDeployment({ ctx, input }: Call<Input, "serverHost">): Promise<DeploymentView> {
  const access = await authorizeApprover(ctx, input);
  requireWaiting(await findApproval(ctx.db, input.deploymentId));
  // Without a lock: a start may take long.
  await requireServerHost(ctx).verify(input.deploymentId);
  await ctx.db.transaction(async (tx) => {
    const { branch, approval, build, ...found } = await lockWaiting(tx, input.deploymentId);
    await lockLabels(tx);
    await decide(tx, ctx, access, { state: "approved", build, ...found });
    const { project, organization } = access;
    const target = { deployment: found.deployment, projectName: project.name, organizationId: organization.id };
    const result = await putLive(tx, ctx, { ended: build, branch, target, isGradual: approval.isGradual });
    if (result.outcome === "overtaken") throw new TowpathError("conflict", "A newer version is live by now.");
    const text =
      result.outcome === "releasing" ? `Approved: gets ${result.share} % of new sessions.` : "Approved: live.";
    await writeToBuildLog(tx, build.id, ctx.clock.now(), { phase: "rollout", kind: "step", text });
  });
  return getDeployment({ ctx, input });
}

/**
 * Rejects a deployment to production that waits (CAP-8). What is live stays.
 *
 * @throws TowpathError `conflict` when it doesn't wait; `forbidden` for roles below that of the setting; `not_found`
 */
export async function rejectDeployment({ ctx, input }: Call<Input>): Promise<DeploymentView> {
  const access = await authorizeApprover(ctx, input);
  await ctx.db.transaction(async (tx) => {
    const { build, deployment } = await lockWaiting(tx, input.deploymentId);
    await decide(tx, ctx, access, { state: "rejected", build, deployment });
    const text = "Rejected: doesn't go live.";
    await writeToBuildLog(tx, build.id, ctx.clock.now(), { phase: "rollout", kind: "warning", text });
  });
  return getDeployment({ ctx, input });
}

async function authorizeApprover(ctx: Context, { deploymentId }: Input): Promise<ProjectAccess> {
  const access = await authorizeDeployment(ctx, "build.start", deploymentId);
  const { approval } = await readPolicy(ctx.db, access.project.id);
  const text = `${approval === "owner" ? "an owner" : "an admin"} has to approve deployments of this server to production.`;
  requireApprover(ctx, access.role, { approval, text });
  return access;
}

type Found = NonNullable<Awaited<ReturnType<typeof findApproval>>>;

const states = {
  approved: "It was approved before.",
  rejected: "It was rejected. Rebuild its commit to ask again.",
  replaced: "A newer build of the branch took its place.",
} as const;

function requireWaiting(found: Found | undefined): Found {
  if (!found) throw new TowpathError("conflict", "This deployment needs no approval.");
  const { state } = found.approval;
  if (state !== "waiting") {
    const why = state in states ? states[state as keyof typeof states] : "";
    throw new TowpathError("conflict", `This deployment doesn't wait for an approval. ${why}`.trimEnd());
  }
  return found;
}

/** Under the lock of its branch: a build that goes live meanwhile takes its place. */
async function lockWaiting(tx: Transaction, deploymentId: string) {
  const before = requireWaiting(await findApproval(tx, deploymentId));
  const branch = await lockBranch(tx, before.deployment.branchId);
  const found = requireWaiting(await findApproval(tx, deploymentId));
  if (branch.endedAt || !branch.isDefault)
    throw new TowpathError("conflict", "Its branch isn't production's any more, so it can't go live there.");
  return { ...found, branch };
}

async function decide(
  tx: Transaction,
  ctx: Context,
  { project, organization }: ProjectAccess,
  { state, build, deployment }: Pick<Found, "build" | "deployment"> & { readonly state: "approved" | "rejected" },
): Promise<void> {
  await tx
    .update(deploymentApproval)
    .set({ state, decidedAt: ctx.clock.now(), decidedByUserId: actingUserId(ctx) })
    .where(and(eq(deploymentApproval.deploymentId, deployment.id), eq(deploymentApproval.state, "waiting")));
  await enqueueReport(tx, ctx, deployment.branchId);
  await audit(tx, ctx, {
    organizationId: organization.id,
    projectId: project.id,
    action: state === "approved" ? "deployment.approve" : "deployment.reject",
    subject: deployment.id,
    detail: { build: build.id, ...auditedVersion(build) },
  });
}
