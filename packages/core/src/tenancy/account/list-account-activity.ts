import { auditLog } from "@towpath/db/schema";
import { and, desc, eq, isNull, or } from "drizzle-orm";
import { requireUser } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";

/** What was done to the person's own account: which action, when, from where, and whether by the operator. */
export type AccountActivity = {
  readonly id: string;
  readonly action: string;
  readonly at: string;
  readonly ipAddress: string | null;
  readonly byOperator: boolean;
};

const shown = 20;

/** The newest changes of the signed-in user's own account, which no organization's audit log shows (ORG-7, ORG-10). */
export async function listAccountActivity(call: { ctx: Context }): Promise<readonly AccountActivity[]> {
  const { ctx } = call;
  const userId = requireUser(ctx);
  const own = eq(auditLog.actor, `user:${userId}`);
  const byOperator = and(eq(auditLog.actor, "operator"), eq(auditLog.subject, userId));
  const rows = await ctx.db
    .select()
    .from(auditLog)
    .where(and(isNull(auditLog.organizationId), or(own, byOperator)))
    .orderBy(desc(auditLog.createdAt), desc(auditLog.id))
    .limit(shown);
  return rows.map(({ id, action, createdAt, ipAddress, actor }) => ({
    id,
    action,
    ipAddress,
    at: createdAt.toISOString(),
    byOperator: actor === "operator",
  }));
}
