import { auditLog, user } from "@towpath/db/schema";
import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { authorizeProject } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";

/** Who last switched the capture of payloads, to what it is now. */
export type CaptureChange = {
  /** Name or email address of the user; null for the operator. */
  readonly by: string | null;
  /** ISO 8601 */
  readonly at: string;
};

/** The last switch of payload capture, from the audit log (GW-7). Null when it was never switched, or too long ago. */
export async function getCaptureChange(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly projectName: string };
}): Promise<CaptureChange | null> {
  const { ctx } = call;
  const { project, organization } = await authorizeProject(ctx, "project.read", call.input);
  const [row] = await ctx.db
    .select({ actor: auditLog.actor, at: auditLog.createdAt, name: user.name, email: user.email })
    .from(auditLog)
    .leftJoin(user, eq(auditLog.actor, sql`'user:' || ${user.id}::text`))
    .where(
      and(
        eq(auditLog.organizationId, organization.id),
        eq(auditLog.projectId, project.id),
        // Off is how projects begin, so creating one switched nothing off.
        inArray(auditLog.action, project.capturePayloads ? ["project.create", "project.update"] : ["project.update"]),
        sql`${auditLog.detail} ->> 'capturePayloads' = ${String(project.capturePayloads)}`,
      ),
    )
    .orderBy(desc(auditLog.createdAt))
    .limit(1);
  if (!row) return null;
  const name = row.name || row.email;
  return { by: row.actor === "operator" ? null : (name ?? "a former user"), at: row.at.toISOString() };
}
