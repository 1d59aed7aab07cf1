import type { Transaction } from "@towpath/db";
import { branch as branches, build, deployment, route } from "@towpath/db/schema";
import { and, asc, eq, or, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { chooseLabel, lockLabels } from "../../projects/label/index.ts";
import { type BranchRow, enqueueReport, environmentOf, pullRequestOfForkBranch } from "../branch/index.ts";
import { auditedVersion } from "../build/internal.ts";
import { beginRelease, stopRelease } from "../gradual-release/internal.ts";
import { findApproval } from "./approval.store.ts";
import type { DeploymentView } from "./deployment.view.ts";
import { authorizeDeployment, getDeployment } from "./get-deployment.ts";
import { requireServerHost } from "./server-host.ts";

/**
 * Moves a branch's route to one of its earlier deployments, or forward again, without a build (PRJ-14), after its server
 * has answered: what doesn't start any more changes nothing that is live (BLD-10), and callers don't wait for the start.
 * The server that was live drains as after a rollout. The deployment keeps the values of variables that it was built
 * with.
 *
 * The route moves by compare-and-swap: what went live while the server started stays live. It keeps its sequence: a push
 * from now on goes live as usual, and a build that was overtaken before stays so (BLD-11).
 *
 * `gradually`: a production deployment gets a share of the new sessions first (CAP-8). A release that runs ends, unless
 * this is its version.
 *
 * @throws TowpathError `conflict` when it is live already, it waits for an approval, it can't be released gradually, its server doesn't start or answer, another deployment went
 *   live meanwhile, its branch has ended, or it was built for the other environment; `not_found`; `upstream_unavailable`
 *   when no server can be started now; `not_configured`
 */
export async function makeDeploymentLive({
  ctx,
  input,
}: Call<{ readonly deploymentId: string; readonly gradually?: boolean }, "serverHost">): Promise<DeploymentView> {
  const { project, organization } = await authorizeDeployment(ctx, "build.start", input.deploymentId);
  const live = await liveBefore(ctx, input.deploymentId);
  // Without a lock: a start may take long.
  await requireServerHost(ctx).verify(input.deploymentId);
  await ctx.db.transaction(async (tx) => {
    const chosen = await lockDeployment(tx, input.deploymentId);
    requireServable(chosen);
    await lockLabels(tx);
    const { branch } = chosen;
    const label = await chooseLabel(tx, { projectId: project.id, projectName: project.name, branch });
    const { id: before, branchId: replaced } = await liveOf(tx, branch.id);
    if (before !== live) {
      throw new TowpathError(
        "conflict",
        "Another version went live while this one's server started, and stays live. Check the deployments, and try again if you still want this one.",
      );
    }
    if (input.gradually) {
      if (!branch.isDefault) throw new TowpathError("conflict", "Only versions of production are released gradually.");
      const { problem } = await beginRelease(tx, ctx, { branch, deploymentId: chosen.deployment.id });
      if (problem !== null)
        throw new TowpathError(
          "conflict",
          `This version can't be released gradually. ${problem} Make it live instead.`,
        );
      return;
    }
    const reason = "Somebody made another version live.";
    await stopRelease(tx, ctx, branch.id, { reason, live: chosen.deployment.id });
    const target = { deploymentId: chosen.deployment.id, updatedAt: sql`now()` };
    await tx
      .insert(route)
      .values({ label, projectId: project.id, branchId: branch.id, sequence: sequenceOn(chosen), ...target })
      .onConflictDoUpdate({ target: route.branchId, set: target });
    await tx.update(deployment).set({ slug: label }).where(eq(deployment.id, chosen.deployment.id));
    await enqueueReport(tx, ctx, branch.id);
    // Another branch's, if the default branch has changed and nothing of this one went live since.
    if (replaced !== null && replaced !== branch.id) await enqueueReport(tx, ctx, replaced);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "deployment.make-live",
      subject: chosen.deployment.id,
      detail: { before, ...auditedVersion(chosen.build), branch: branch.name, label },
    });
  });
  return getDeployment({ ctx, input });
}

/** @throws TowpathError `conflict` for a version that was never approved */
async function requireApproved(tx: Transaction, deploymentId: string): Promise<void> {
  const found = await findApproval(tx, deploymentId);
  if (!found || found.approval.state === "approved") return;
  throw new TowpathError(
    "conflict",
    found.approval.state === "waiting"
      ? "This deployment waits for an approval. It goes live once it has it."
      : "This deployment was never approved. Rebuild its commit to ask for an approval.",
  );
}

/** Any build of another branch than its own may replace it. */
const sequenceOn = ({ branch, build }: Chosen): number => (build.branchId === branch.id ? build.sequence : 0);

/** Which deployment of its branch is live, null for none; refuses at once what can't become live. */
function liveBefore(ctx: Context, deploymentId: string): Promise<string | null> {
  return ctx.db.transaction(async (tx) => {
    const chosen = await lockDeployment(tx, deploymentId);
    requireServable(chosen);
    await requireApproved(tx, deploymentId);
    const { id: live } = await liveOf(tx, chosen.branch.id);
    if (live === deploymentId) throw new TowpathError("conflict", "This deployment is already live.");
    return live;
  });
}

/** The live deployment, with the branch that it was built of. */
async function liveOf(tx: Transaction, branchId: string) {
  const [found] = await tx
    .select({ id: deployment.id, branchId: deployment.branchId })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .where(eq(route.branchId, branchId));
  return found ?? { id: null, branchId: null };
}

type Chosen = Awaited<ReturnType<typeof lockDeployment>>;

/**
 * The deployment, with the branch on which it can be live: its own, or for one that was built for production the default
 * branch, which had another name if the server's source or its default branch has changed since. Under the locks of both:
 * until then it may be removed, and the branch may end.
 */
async function lockDeployment(tx: Transaction, deploymentId: string) {
  const select = () =>
    tx
      .select({ deployment, build })
      .from(deployment)
      .innerJoin(build, eq(build.id, deployment.buildId))
      .where(eq(deployment.id, deploymentId));
  const [found] = await select();
  if (!found) throw notFound("deployment");
  const { branchId, projectId, environment } = found.deployment;
  const isProduction = and(eq(branches.projectId, projectId), eq(branches.isDefault, true));
  const locked: readonly BranchRow[] = await tx
    .select()
    .from(branches)
    .where(environment === "production" ? or(eq(branches.id, branchId), isProduction) : eq(branches.id, branchId))
    .orderBy(asc(branches.id))
    .for("no key update");
  const [row] = await select();
  const branch = locked.find(({ isDefault }) => isDefault) ?? locked.find(({ id }) => id === branchId);
  if (!row || !branch) throw notFound("deployment");
  return { ...row, branch };
}

function requireServable({ deployment: { environment }, build, branch }: Chosen): void {
  if (branch.endedAt) {
    throw new TowpathError(
      "conflict",
      pullRequestOfForkBranch(branch.name) === null
        ? `The branch ${branch.name} was deleted or its pull request closed. Push to it again to get a preview.`
        : "The pull request is closed. Once it is open again, approve its commit to get a preview.",
    );
  }
  if (environment !== environmentOf(branch)) {
    throw new TowpathError(
      "conflict",
      `This deployment was built with the variables of ${environment}, before ${branch.name} changed its role. Rebuild its commit instead.`,
    );
  }
  if (build.status !== "succeeded" || build.layers === null) {
    throw new TowpathError("conflict", "This deployment was never live. Rebuild its commit instead.");
  }
}
