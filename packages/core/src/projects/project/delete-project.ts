import type { Transaction } from "@towpath/db";
import { auditLog, branch, project } from "@towpath/db/schema";
import { and, asc, eq, inArray } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { enqueueLeaving } from "../../delivery/branch/index.ts";
import { requireConfirmation } from "../../input/index.ts";
import { lockLabels } from "../label/index.ts";

export type DeleteProjectInput = ProjectScope & {
  /** The project's name, typed by the user. */
  readonly confirmation: string;
};

/**
 * Deletes a project (PRJ-11). Branches, builds, deployments, secrets and routes are deleted immediately, so its URLs
 * stop working and open streams end; running servers stop within seconds. The sweep then erases logs and files. Audit
 * entries keep only who, which action and when.
 *
 * @throws TowpathError `invalid_input` with `fields.confirmation` when that isn't the project's name
 */
export async function deleteProject({ ctx, input }: Call<DeleteProjectInput>): Promise<{ readonly id: string }> {
  const { project: found, organization } = await authorizeProject(ctx, "project.delete", input);
  requireConfirmation(input.confirmation, found.name);
  await ctx.db.transaction(async (tx) => {
    await lockForDeletion(tx, [found.id]);
    await enqueueLeaving(tx, ctx, [found.id], { deleted: true });
    await tx
      .update(auditLog)
      .set({ projectId: null, subject: null, detail: null })
      .where(and(eq(auditLog.organizationId, organization.id), eq(auditLog.projectId, found.id)));
    await tx.delete(project).where(and(eq(project.organizationId, organization.id), eq(project.id, found.id)));
    await audit(tx, ctx, { organizationId: organization.id, action: "project.delete", subject: found.name });
  });
  return { id: found.id };
}

/**
 * Takes the same locks in the same order as a rollout: branches, then labels. So a running rollout finishes first, and
 * no other one starts. `NO KEY UPDATE` as there: a stronger lock on the branch would block the creation of a
 * deployment, which holds the lock on labels.
 */
export async function lockForDeletion(tx: Transaction, projectIds: readonly string[]): Promise<void> {
  await tx
    .select({ id: branch.id })
    .from(branch)
    .where(inArray(branch.projectId, [...projectIds]))
    .orderBy(asc(branch.id))
    .for("no key update");
  await lockLabels(tx);
}
