import type { Transaction } from "@towpath/db";
import { branch, project, route } from "@towpath/db/schema";
import { and, eq, ne, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import type { BranchRow } from "../../delivery/branch/index.ts";
import { lockLabels } from "../../projects/label/index.ts";
import { routeLabel } from "../../projects/server-url/index.ts";
import { hintBranch } from "./hint-branch.ts";

/**
 * Makes another branch the production branch, after the repository's default branch has changed. The production URL
 * moves to it immediately and keeps serving the live deployment until the new branch's build, which the caller queues,
 * replaces it. The new branch's preview ends. The old one becomes an ordinary branch: its next push creates a preview,
 * and it ends when it is deleted there. The caller must hold the locks of the project and both branches.
 */
export async function followDefaultBranch(
  tx: Transaction,
  ctx: Context,
  target: { readonly project: typeof project.$inferSelect; readonly branch: BranchRow },
): Promise<void> {
  const { project: of, branch: next } = target;
  await lockLabels(tx);
  const raised = { observation: sql`${branch.observation} + 1` };
  const old = await tx
    .update(branch)
    .set({ isDefault: false, ...raised })
    .where(and(eq(branch.projectId, of.id), eq(branch.isDefault, true), ne(branch.id, next.id)))
    .returning();
  await tx.update(branch).set({ isDefault: true, endedAt: null }).where(eq(branch.id, next.id));
  await tx.update(project).set({ defaultBranch: next.name }).where(eq(project.id, of.id));
  await tx.delete(route).where(eq(route.branchId, next.id));
  // Sequence 0: any build of the new branch may replace the old branch's deployment.
  await tx
    .update(route)
    .set({ branchId: next.id, sequence: 0, updatedAt: sql`now()` })
    .where(and(eq(route.projectId, of.id), eq(route.label, routeLabel(of.name, { ...next, isDefault: true }))));
  for (const { name } of old) {
    // It may already be deleted at its host: as the default branch it could not end.
    await hintBranch(tx, ctx, { project: { ...of, defaultBranch: next.name }, branch: name, mayBeNew: false });
  }
  await audit(tx, ctx, {
    organizationId: of.organizationId,
    projectId: of.id,
    action: "project.follow-default-branch",
    subject: of.name,
    detail: { from: of.defaultBranch, to: next.name },
  });
}
