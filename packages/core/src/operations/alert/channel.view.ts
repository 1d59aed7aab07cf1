import { alertChannel } from "@towpath/db/schema";
import { asc, eq } from "drizzle-orm";
import { z } from "zod";
import { alertKinds, channelFormats, quietHoursSchema } from "./alert.schema.ts";
import { type ChannelRow, membersOf, projectsOf, type Queryable, quietHoursOf } from "./channel.store.ts";

/** A channel as members see it (CAP-6): never its address nor its secret. */
export const channelViewSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  format: z.enum(channelFormats),
  host: z.string().nullable().describe("of a webhook's address, which nobody is shown; null for email"),
  recipients: z
    .array(z.object({ id: z.uuid(), name: z.string() }))
    .readonly()
    .nullable()
    .describe("members who get the email; null for a webhook"),
  events: z.array(z.enum(alertKinds)).readonly(),
  servers: z
    .array(z.object({ id: z.uuid(), name: z.string() }))
    .readonly()
    .nullable()
    .describe("null: all of the organization"),
  quietHours: quietHoursSchema.nullable().describe("minutes of the day in a time zone between which messages wait"),
  state: z
    .enum(["on", "failing", "off", "gone"])
    .describe("`failing`: the last attempts failed; `gone`: switched off, because the receiver answered 410"),
  createdAt: z.iso.datetime(),
});
export type ChannelView = z.infer<typeof channelViewSchema>;

/** `secret`: signs the messages; shown this once. Null for email. */
export const newChannelSchema = z.object({ channel: channelViewSchema, secret: z.string().nullable() });
export type NewChannelView = z.infer<typeof newChannelSchema>;

/** The channels of an organization, oldest first. */
export async function channelViews(db: Queryable, organizationId: string): Promise<ChannelView[]> {
  const rows = await db
    .select()
    .from(alertChannel)
    .where(eq(alertChannel.organizationId, organizationId))
    .orderBy(asc(alertChannel.createdAt), asc(alertChannel.id));
  return viewsOf(db, organizationId, rows);
}

export async function channelView(db: Queryable, row: ChannelRow): Promise<ChannelView> {
  const [view] = await viewsOf(db, row.organizationId, [row]);
  if (!view) throw new Error("a row has a view");
  return view;
}

async function viewsOf(db: Queryable, organizationId: string, rows: readonly ChannelRow[]): Promise<ChannelView[]> {
  const people = await membersOf(
    db,
    organizationId,
    rows.flatMap(({ userIds }) => userIds ?? []),
  );
  const servers = await projectsOf(
    db,
    organizationId,
    rows.flatMap(({ projectIds }) => projectIds ?? []),
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    format: z.enum(channelFormats).parse(row.format),
    host: row.host,
    recipients:
      row.userIds && people.filter(({ id }) => row.userIds?.includes(id)).map(({ id, name }) => ({ id, name })),
    // A kind of a later version isn't shown.
    events: alertKinds.filter((kind) => row.events.includes(kind)),
    servers: row.projectIds && servers.filter(({ id }) => row.projectIds?.includes(id)),
    quietHours: quietHoursOf(row),
    state: row.disabledFor === "gone" ? "gone" : row.disabledFor !== null ? "off" : row.failures > 0 ? "failing" : "on",
    createdAt: row.createdAt.toISOString(),
  }));
}
