import { alertDelivery, alertEvent, organization, project } from "@towpath/db/schema";
import { asc, eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { projectPathName } from "../../projects/reserved-names/index.ts";
import { contentOf } from "./alert.content.ts";
import type { ChannelRow } from "./channel.store.ts";
import type { AlertEvent } from "./raise-alert.ts";
import { type AlertMessage, maxDigestItems } from "./webhook-body.ts";

export type DeliveryRow = typeof alertDelivery.$inferSelect;

/** The page with an organization's channels and what was sent to them. */
const pageOf = (ctx: Context, orgSlug: string) => `${ctx.dashboardUrl}/${orgSlug}/settings/alerts`;

/** The same for each attempt: what a delivery is about doesn't change. Null: it was deleted meanwhile. */
export async function messageOf(
  ctx: Context,
  delivery: Pick<DeliveryRow, "id" | "kind" | "createdAt">,
  channel: ChannelRow,
): Promise<AlertMessage | null> {
  const owner = await organizationOf(ctx, channel.organizationId);
  if (owner === null) return null;
  const common = { at: delivery.createdAt, organization: owner };
  if (delivery.kind === "test") return { ...common, kind: "test", channel: channel.name, url: pageOf(ctx, owner.slug) };
  const isDigest = delivery.kind === "digest";
  const rows = await ctx.db
    .select({ event: alertEvent, project: { id: project.id, name: project.name } })
    .from(alertDelivery)
    .innerJoin(alertEvent, eq(alertEvent.id, alertDelivery.eventId))
    .innerJoin(project, eq(project.id, alertEvent.projectId))
    .where(isDigest ? eq(alertDelivery.digestId, delivery.id) : eq(alertDelivery.id, delivery.id))
    .orderBy(asc(alertEvent.id))
    .limit(maxDigestItems);
  const items = rows.map(({ event: { detail }, project: { id, name } }) => {
    const event = detail as AlertEvent;
    const projectPath = projectPathName({ id, name });
    const place = { dashboardUrl: ctx.dashboardUrl, orgSlug: owner.slug, projectPath, projectName: name };
    return { event, content: contentOf(event, place) };
  });
  const [first] = items;
  if (!first) return null;
  if (!isDigest) return { ...common, kind: "alert", ...first };
  const count = await ctx.db.$count(alertDelivery, eq(alertDelivery.digestId, delivery.id));
  return { ...common, kind: "digest", items, count, url: pageOf(ctx, owner.slug) };
}

async function organizationOf(ctx: Context, id: string): Promise<AlertMessage["organization"] | null> {
  const { slug, name } = organization;
  const [found] = await ctx.db.select({ slug, name }).from(organization).where(eq(organization.id, id));
  return found ?? null;
}
