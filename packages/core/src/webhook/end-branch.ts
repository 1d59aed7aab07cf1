import type { Transaction } from "@towpath/db";
import { branch, type project, route } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { lockBranch } from "../branch/index.ts";
import { supersedeQueued } from "../build/internal.ts";
import type { Context } from "../context/index.ts";

/**
 * Ends a branch's preview: its URL stops, waiting builds are canceled, builds that run do not go live (BLD-7). The
 * default branch never ends: production outlives what happens to branches at GitHub. False when nothing changed.
 */
export async function endBranch(
  tx: Transaction,
  ctx: Context,
  input: {
    readonly project: typeof project.$inferSelect;
    readonly branchName: string;
    readonly reason: "branch deleted" | "pull request closed";
  },
): Promise<boolean> {
  const [found] = await tx
    .select({ id: branch.id })
    .from(branch)
    .where(and(eq(branch.projectId, input.project.id), eq(branch.name, input.branchName)));
  if (!found) return false;
  const locked = await lockBranch(tx, found.id);
  if (locked.isDefault || locked.endedAt) return false;
  await tx.update(branch).set({ endedAt: ctx.clock.now() }).where(eq(branch.id, locked.id));
  await tx.delete(route).where(eq(route.branchId, locked.id));
  await supersedeQueued(tx, ctx, locked.id, `Canceled: ${input.reason}.`);
  await audit(tx, ctx, {
    organizationId: input.project.organizationId,
    projectId: input.project.id,
    action: "branch.end",
    subject: locked.name,
    detail: { reason: input.reason },
  });
  return true;
}
