import type { Transaction } from "@towpath/db";
import { auditLog } from "@towpath/db/schema";
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
