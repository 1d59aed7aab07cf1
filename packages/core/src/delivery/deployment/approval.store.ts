import type { Database, Transaction } from "@towpath/db";
import { build, deployment, deploymentApproval } from "@towpath/db/schema";
import { and, eq, inArray, ne } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { auditedVersion, type BuildRow } from "../build/internal.ts";

type Waiting = {
  readonly deployment: typeof deployment.$inferSelect;
  readonly organizationId: string;
  readonly build: BuildRow;
  readonly isGradual: boolean;
};

/** Lets a deployment to production wait for an approval, in place of the one of its branch that waits (CAP-8). */
export async function waitForApproval(
  tx: Transaction,
  ctx: Context,
  { deployment: waiting, organizationId, build: of, isGradual }: Waiting,
): Promise<void> {
  await replaceWaiting(tx, ctx, { branchId: waiting.branchId, by: waiting.id });
  await tx.insert(deploymentApproval).values({
    deploymentId: waiting.id,
    projectId: waiting.projectId,
    isGradual,
    requestedAt: ctx.clock.now(),
  });
  await audit(tx, ctx, {
    organizationId,
    projectId: waiting.projectId,
    action: "deployment.wait",
    subject: waiting.id,
    detail: { build: of.id, ...auditedVersion(of) },
  });
}

/** Of a deployment to production that needed an approval and was overtaken before anybody could give it: none is left to ask for. */
export async function keepUnapproved(
  tx: Transaction,
  ctx: Context,
  { id, projectId, environment }: typeof deployment.$inferSelect,
): Promise<void> {
  if (environment !== "production") return;
  const now = ctx.clock.now();
  const values = { deploymentId: id, projectId, isGradual: false, requestedAt: now, decidedAt: now, state: "replaced" };
  await tx.insert(deploymentApproval).values(values).onConflictDoNothing();
}

async function replaceWaiting(tx: Transaction, ctx: Context, { branchId, by }: { branchId: string; by: string }) {
  const ofBranch = tx
    .select({ id: deployment.id })
    .from(deployment)
    .where(and(eq(deployment.branchId, branchId), ne(deployment.id, by)));
  await tx
    .update(deploymentApproval)
    .set({ state: "replaced", decidedAt: ctx.clock.now() })
    .where(and(eq(deploymentApproval.state, "waiting"), inArray(deploymentApproval.deploymentId, ofBranch)));
}

/** The approval that a deployment waits or waited for, with its build; undefined when it needed none. */
export async function findApproval(db: Database | Transaction, deploymentId: string) {
  const [row] = await db
    .select({ approval: deploymentApproval, deployment, build })
    .from(deploymentApproval)
    .innerJoin(deployment, eq(deployment.id, deploymentApproval.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .where(eq(deploymentApproval.deploymentId, deploymentId));
  return row;
}
