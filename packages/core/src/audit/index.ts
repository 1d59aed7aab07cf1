import type { Transaction } from "@towpath/db";
import { auditLog } from "@towpath/db/schema";
import { and, eq, gt } from "drizzle-orm";
import type { Actor, Context } from "../context/index.ts";
import { newId } from "../ids/index.ts";

export type AuditEntry = {
  readonly organizationId: string | null;
  readonly projectId?: string | null;
  /** The action, such as `project.create`. */
  readonly action: string;
  /** What was changed: an id or a name. */
  readonly subject: string;
  /** What changed. Never a secret. */
  readonly detail?: Readonly<Record<string, unknown>>;
};

/** `user:<id>`, `apiKey:<id>`, `operator` or `job:<name>`, as audit rows name their actor. */
function actorName(actor: Actor): string {
  if (actor.kind === "user") return `user:${actor.userId}`;
  if (actor.kind === "apiKey") return `apiKey:${actor.keyId}`;
  return actor.kind === "operator" ? "operator" : `job:${actor.job}`;
}

/** Records who did what, in the transaction of the change, so that neither exists without the other (ORG-10). */
export async function audit(tx: Transaction, ctx: Context, entry: AuditEntry): Promise<void> {
  await tx.insert(auditLog).values({
    id: newId(),
    organizationId: entry.organizationId,
    projectId: entry.projectId ?? null,
    actor: actorName(ctx.actor),
    action: entry.action,
    subject: entry.subject,
    detail: entry.detail ?? null,
    ipAddress: ctx.actor.kind === "job" ? null : ctx.actor.ipAddress,
    createdAt: ctx.clock.now(),
  });
}

const dayMs = 86_400_000;

/** Records who decrypted a credential of a project (KEY-2). A job, which does so all day long, is recorded once a day. */
export async function auditDecryption(
  ctx: Context,
  entry: AuditEntry & { readonly organizationId: string; readonly projectId: string },
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const since = new Date(ctx.clock.now().getTime() - dayMs);
    const mine = and(eq(auditLog.action, entry.action), eq(auditLog.actor, actorName(ctx.actor)));
    const own = and(eq(auditLog.organizationId, entry.organizationId), eq(auditLog.projectId, entry.projectId));
    const recent = and(own, mine, gt(auditLog.createdAt, since));
    if (ctx.actor.kind === "job" && (await tx.$count(auditLog, recent)) > 0) return;
    await audit(tx, ctx, entry);
  });
}
