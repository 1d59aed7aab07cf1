import { alertChannel, alertDelivery, alertEvent, mailMessage, project } from "@towpath/db/schema";
import { and, desc, eq, inArray, lt, type SQL } from "drizzle-orm";
import { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { projectPathName } from "../../projects/reserved-names/index.ts";
import { contentOf } from "./alert.content.ts";
import { channelFormats } from "./alert.schema.ts";
import { type ChannelRow, requireChannel } from "./channel.store.ts";
import { type DeliveryRow, messageOf } from "./message.store.ts";
import type { AlertEvent } from "./raise-alert.ts";
import { postMessage, queueMail } from "./send-message.ts";

const deliveryStatusSchema = z.enum(["held", "waiting", "digested", "sent", "failed"]);

/** A message to a channel, and how sending it went. */
export const deliveryViewSchema = z.object({
  id: z.uuid().describe("of the message: `webhook-id`"),
  channel: z.object({ id: z.uuid(), name: z.string(), format: z.enum(channelFormats) }),
  title: z.string(),
  server: z.string().nullable().describe("null for a digest and a test"),
  url: z.url().nullable().describe("the page that shows the cause; null for a digest and a test"),
  kind: z.string().describe("of the event; `digest` or `test`"),
  status: deliveryStatusSchema.describe(
    "`held`: until the end of quiet hours or of a flood; `digested`: then sent within a digest",
  ),
  dueAt: z.iso.datetime().describe("when it is sent, or tried again"),
  attempts: z.number().int(),
  lastStatus: z.number().int().nullable().describe("HTTP status of the last answer"),
  lastAnswer: z.string().nullable().describe("the beginning of the last answer, or why there was none"),
  createdAt: z.iso.datetime(),
  settledAt: z.iso.datetime().nullable(),
});
export type DeliveryView = z.infer<typeof deliveryViewSchema>;

const listSchema = z.object({
  /** The last one of the page before: many may be of the same time. */
  before: z.uuid().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(30),
});
export const deliveryPageSchema = listSchema;
type ListInput = z.input<typeof listSchema> & { readonly orgSlug: string };

/** The newest messages to the organization's channels. */
export async function listAlertDeliveries({ ctx, input }: Call<ListInput>): Promise<readonly DeliveryView[]> {
  const { organization } = await authorize(ctx, "alert.read", { orgSlug: input.orgSlug });
  const { before, limit } = parseInput(listSchema, { before: input.before, limit: input.limit });
  const ofOrganization = eq(alertChannel.organizationId, organization.id);
  const isBefore = before === undefined ? undefined : lt(alertDelivery.id, before);
  return deliveryViews(ctx, organization.slug, { which: and(ofOrganization, isBefore), limit });
}

async function deliveryViews(
  ctx: Context,
  orgSlug: string,
  { which, limit }: { readonly which: SQL | undefined; readonly limit: number },
): Promise<DeliveryView[]> {
  const rows = await ctx.db
    .select({
      delivery: alertDelivery,
      channel: alertChannel,
      event: alertEvent,
      server: { id: project.id, name: project.name },
    })
    .from(alertDelivery)
    .innerJoin(alertChannel, eq(alertChannel.id, alertDelivery.channelId))
    .leftJoin(alertEvent, eq(alertEvent.id, alertDelivery.eventId))
    .leftJoin(project, eq(project.id, alertEvent.projectId))
    .where(which)
    .orderBy(desc(alertDelivery.id))
    .limit(limit);
  const mailProblems = await problemsOf(
    ctx,
    rows.flatMap(({ delivery }) => delivery.mailIds ?? []),
  );
  return rows.map(({ delivery, channel, event, server }) => {
    const problems = (delivery.mailIds ?? []).flatMap((id) => mailProblems.get(id) ?? []);
    const content = event && server ? contentAt(ctx, orgSlug, { event: event.detail as AlertEvent, server }) : null;
    return {
      id: delivery.id,
      channel: {
        id: channel.id,
        name: channel.name,
        format: z.enum(channelFormats).parse(channel.format),
      },
      title: content?.title ?? (delivery.kind === "test" ? "Test" : "Digest"),
      server: server?.name ?? null,
      url: content?.url ?? null,
      kind: event?.kind ?? delivery.kind,
      status: problems.length > 0 ? "failed" : statusOf(delivery),
      dueAt: delivery.dueAt.toISOString(),
      attempts: delivery.attempts,
      lastStatus: delivery.lastStatus,
      lastAnswer: problems[0] ?? delivery.lastAnswer,
      createdAt: delivery.createdAt.toISOString(),
      settledAt: delivery.settledAt?.toISOString() ?? null,
    };
  });
}

const statusOf = ({ status }: DeliveryRow): DeliveryView["status"] => deliveryStatusSchema.catch("sent").parse(status);

function contentAt(
  { dashboardUrl }: Context,
  orgSlug: string,
  { event, server }: { readonly event: AlertEvent; readonly server: { readonly id: string; readonly name: string } },
) {
  return contentOf(event, { dashboardUrl, orgSlug, projectPath: projectPathName(server), projectName: server.name });
}

/** Why the mail server refused a message, by its id. */
async function problemsOf(ctx: Context, mailIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (mailIds.length === 0) return new Map();
  const { id, problem } = mailMessage;
  const rows = await ctx.db
    .select({ id, problem })
    .from(mailMessage)
    .where(and(inArray(id, [...mailIds]), eq(mailMessage.status, "failed")));
  return new Map(rows.map((row) => [row.id, row.problem ?? "The mail server refused it."]));
}

type TestInput = { readonly orgSlug: string; readonly channelId: string };

/**
 * Sends a real message to a channel now, and returns its delivery with the receiver's answer, or what went wrong. Works
 * for a channel that is switched off too. For email, waits some seconds for the mail server's answer.
 *
 * @throws TowpathError `limit_reached` for too much email, `not_configured` without a mail server
 */
export async function testAlertChannel({
  ctx,
  input,
}: Call<TestInput, "secrets" | "webhooks" | "mail">): Promise<DeliveryView> {
  const { organization } = await authorize(ctx, "alert.manage", { orgSlug: input.orgSlug });
  const channel = await requireChannel(ctx.db, { organizationId: organization.id, channelId: input.channelId });
  const now = ctx.clock.now();
  const delivery: typeof alertDelivery.$inferInsert = {
    id: newId(),
    channelId: channel.id,
    kind: "test",
    status: "sent",
    dueAt: now,
    attempts: 1,
    lastAttemptAt: now,
    settledAt: now,
    createdAt: now,
  };
  const result =
    channel.format === "mail" ? await testMail(ctx, channel, delivery) : await testWebhook(ctx, channel, delivery);
  const which = eq(alertDelivery.id, result);
  const [view] = await deliveryViews(ctx, organization.slug, { which, limit: 1 });
  if (!view) throw new TowpathError("conflict", "Someone else just deleted this channel. Reload the page.");
  return view;
}

type NewDelivery = typeof alertDelivery.$inferInsert;

async function testMessage(ctx: Context, channel: ChannelRow, delivery: NewDelivery) {
  const message = await messageOf(ctx, delivery, channel);
  if (message === null) throw new TowpathError("not_found", "Not Found: there is no such alert channel.");
  return message;
}

/** Its result doesn't count for the channel's pauses. */
async function testWebhook(
  ctx: Context<"secrets" | "webhooks">,
  channel: ChannelRow,
  delivery: NewDelivery,
): Promise<string> {
  const message = await testMessage(ctx, channel, delivery);
  const answer = await postMessage(ctx, channel, { id: delivery.id, message });
  const isSent = answer.kind === "answered" && answer.status >= 200 && answer.status < 300;
  await ctx.db.insert(alertDelivery).values({
    ...delivery,
    status: isSent ? "sent" : "failed",
    lastStatus: answer.kind === "answered" ? answer.status : null,
    lastAnswer: answer.kind === "answered" ? answer.text : answer.message,
    settledAt: ctx.clock.now(),
  });
  return delivery.id;
}

const mailWithinMs = 8000;
const lookEveryMs = 250;

async function testMail(ctx: Context<"mail">, channel: ChannelRow, delivery: NewDelivery): Promise<string> {
  const { mail, actor } = ctx;
  if (mail === null)
    throw new TowpathError(
      "not_configured",
      "This instance sends no email. Ask the operator to set TOWPATH_SMTP_URL, or use a webhook.",
    );
  const message = await testMessage(ctx, channel, delivery);
  const sender = actor.kind === "user" ? `user:${actor.userId}` : null;
  const mailIds = await ctx.db.transaction(async (tx) => {
    const ids = await queueMail(tx, mail, channel, { message, sender });
    const none = { status: "failed", lastAnswer: "None of its recipients is a member any more." };
    await tx.insert(alertDelivery).values({ ...delivery, ...(ids.length === 0 && none), mailIds: [...ids] });
    return ids;
  });
  const waiting = and(inArray(mailMessage.id, [...mailIds]), eq(mailMessage.status, "queued"));
  const until = performance.now() + mailWithinMs;
  while (mailIds.length > 0 && performance.now() < until && (await ctx.db.$count(mailMessage, waiting)) > 0)
    await new Promise((done) => setTimeout(done, lookEveryMs));
  return delivery.id;
}
