import type { Database, Transaction } from "@towpath/db";
import { alertChannel, alertDelivery, member, project, user } from "@towpath/db/schema";
import { openChannel, sealChannel } from "@towpath/secrets";
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";
import { displayNameOf } from "../../tenancy/organization/index.ts";
import type { QuietHours } from "./alert.schema.ts";

export type Queryable = Database | Transaction;
export type ChannelRow = typeof alertChannel.$inferSelect;

/** @throws TowpathError `not_found`, also for a channel of another organization */
export async function requireChannel(
  db: Queryable,
  { organizationId, channelId }: { readonly organizationId: string; readonly channelId: string },
): Promise<ChannelRow> {
  const [row] = isId(channelId)
    ? await db
        .select()
        .from(alertChannel)
        .where(and(eq(alertChannel.organizationId, organizationId), eq(alertChannel.id, channelId)))
    : [];
  if (!row) throw notFound("alert channel");
  return row;
}

/** Where a webhook is posted, and what it is signed with. */
const webhookSecretsSchema = z.object({
  url: z.string(),
  secret: z.string(),
  /** The one before, which also signs until then. */
  previous: z.object({ secret: z.string(), until: z.string() }).nullable(),
});
type WebhookSecrets = z.infer<typeof webhookSecretsSchema>;

type Keyed = Pick<ChannelRow, "id" | "organizationId">;

/** The columns that hold them. */
export async function sealedSecrets(tx: Transaction, ctx: Context<"secrets">, row: Keyed, secrets: WebhookSecrets) {
  const host = new URL(secrets.url).host;
  return { host, ...(await sealChannel(tx, ctx.secrets, row, JSON.stringify(secrets))) };
}

/** @throws Error when the instance's key doesn't open them */
export function openedSecrets(ctx: Context<"secrets">, { id, organizationId, wraps, sealed }: ChannelRow) {
  if (wraps === null || sealed === null) throw new Error(`channel ${id} is no webhook`);
  return webhookSecretsSchema.parse(JSON.parse(openChannel(ctx.secrets, { id, organizationId, wraps, sealed })));
}

export function quietHoursOf({ quietFrom, quietTo, timeZone }: ChannelRow): QuietHours | null {
  return quietFrom === null || quietTo === null || timeZone === null
    ? null
    : { from: quietFrom, to: quietTo, timeZone };
}

/** Members of the organization among these, with their addresses. */
export async function membersOf(db: Queryable, organizationId: string, userIds: readonly string[]) {
  const rows = await db
    .select({ user })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.organizationId, organizationId), inArray(user.id, [...userIds])))
    .orderBy(asc(user.email));
  return rows.map(({ user: person }) => ({ id: person.id, name: displayNameOf(person), email: person.email }));
}

/** Projects of the organization among these. */
export function projectsOf(db: Queryable, organizationId: string, ids: readonly string[]) {
  return db
    .select({ id: project.id, name: project.name })
    .from(project)
    .where(and(eq(project.organizationId, organizationId), inArray(project.id, [...ids])))
    .orderBy(asc(project.name));
}

/** Ends what waits for a channel that gets nothing any more. */
export async function dropWaiting(tx: Transaction, channelId: string, reason: string, now: Date): Promise<void> {
  await tx
    .update(alertDelivery)
    .set({
      status: "failed",
      lastAnswer: sql`coalesce(${alertDelivery.lastAnswer} || ' ', '') || ${reason}::text`,
      settledAt: now,
    })
    .where(and(eq(alertDelivery.channelId, channelId), inArray(alertDelivery.status, ["held", "waiting"])));
}
