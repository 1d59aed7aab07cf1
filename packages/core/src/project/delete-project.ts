import type { Transaction } from "@towpath/db";
import { auditLog, branch, project } from "@towpath/db/schema";
import { and, asc, eq, inArray } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../authorize/index.ts";
import type { Context } from "../context/index.ts";
import { requireConfirmation } from "../input/index.ts";
import { lockLabels } from "../label/index.ts";

export type DeleteProjectInput = ProjectScope & {
  /** The project's name once more: nothing is deleted by accident. */
  readonly confirmation: string;
};

/**
 * Deletes a project with all that belongs to it (PRJ-11): branches, builds, deployments, secrets and routes at once,
 * so its URLs end and open streams are cut; running servers stop within seconds. The sweep erases logs and files, which
 * nothing refers to any more. What the audit log says of it keeps who, what and when.
 *
 * @throws TowpathError `invalid_input` with `fields.confirmation` when that is not the project's name
 */
export async function deleteProject(call: {
  ctx: Context;
  input: DeleteProjectInput;
}): Promise<{ readonly id: string }> {
  const { ctx, input } = call;
  const { project: found, organization } = await authorizeProject(ctx, "project.delete", input);
  requireConfirmation(input.confirmation, found.name);
  await ctx.db.transaction(async (tx) => {
    await lockForDeletion(tx, [found.id]);
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
 * Takes the locks of a rollout in its order: branches, then labels. So a rollout that has begun ends first, and none
 * begins. `NO KEY UPDATE` as there: with a stronger lock on the branch, making a deployment would wait for it while it
 * holds the labels.
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
