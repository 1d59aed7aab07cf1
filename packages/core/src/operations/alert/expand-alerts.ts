import type { Transaction } from "@towpath/db";
import { alertChannel, alertDelivery, alertEvent, project } from "@towpath/db/schema";
import { and, arrayContains, asc, count, eq, gt, inArray, isNull, lte, min, ne, or } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { type ChannelRow, quietHoursOf } from "./channel.store.ts";
import { quietUntil } from "./quiet-hours.ts";
import { type AlertEvent, chosenKind } from "./raise-alert.ts";

const eventsAtOnce = 100;
const minuteMs = 60_000;

/** More messages than this in the period wait for its end, to be sent as one. */
const floods = {
  mail: { messages: 6, periodMs: 60 * minuteMs },
  webhook: { messages: 20, periodMs: 10 * minuteMs },
} as const;

/**
 * Writes a message for each new event and each channel that chose its kind; during quiet hours and floods it is held.
 * Each event is expanded once: the transaction that writes its messages marks it. Returns the number of events.
 */
export async function expandAlerts({ ctx }: Pick<Call<never>, "ctx">): Promise<number> {
  authorizePlatform(ctx);
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const events = await tx
      .select({ event: alertEvent, organizationId: project.organizationId })
      .from(alertEvent)
      .innerJoin(project, eq(project.id, alertEvent.projectId))
      .where(isNull(alertEvent.expandedAt))
      .orderBy(asc(alertEvent.id))
      .limit(eventsAtOnce)
      .for("update", { of: alertEvent, skipLocked: true });
    for (const { event, organizationId } of events) {
      const kind = chosenKind(event.kind as AlertEvent["kind"]);
      const channels = await tx
        .select()
        .from(alertChannel)
        .where(
          and(
            eq(alertChannel.organizationId, organizationId),
            isNull(alertChannel.disabledFor),
            arrayContains(alertChannel.events, [kind]),
            or(isNull(alertChannel.projectIds), arrayContains(alertChannel.projectIds, [event.projectId])),
          ),
        );
      for (const channel of channels) await addMessage(tx, channel, event.id, now);
    }
    const ids = events.map(({ event }) => event.id);
    if (ids.length > 0) await tx.update(alertEvent).set({ expandedAt: now }).where(inArray(alertEvent.id, ids));
    return events.length;
  });
}

async function addMessage(tx: Transaction, channel: ChannelRow, eventId: string, now: Date): Promise<void> {
  const until = quietUntil(quietHoursOf(channel), now) ?? (await floodUntil(tx, channel, now));
  await tx
    .insert(alertDelivery)
    .values({
      id: newId(),
      channelId: channel.id,
      eventId,
      kind: "alert",
      status: until ? "held" : "waiting",
      dueAt: until ?? now,
      createdAt: now,
    })
    .onConflictDoNothing();
}

/** The end of the period in which the channel got too many messages; null if it may get another one. */
async function floodUntil(tx: Transaction, { id, format }: ChannelRow, now: Date): Promise<Date | null> {
  const { messages, periodMs } = format === "mail" ? floods.mail : floods.webhook;
  const recent = and(
    eq(alertDelivery.channelId, id),
    gt(alertDelivery.createdAt, new Date(now.getTime() - periodMs)),
    inArray(alertDelivery.status, ["waiting", "sent", "failed"]),
    // Whoever tests a channel must not hold up what happens.
    ne(alertDelivery.kind, "test"),
  );
  const [found] = await tx
    .select({ count: count(), first: min(alertDelivery.createdAt) })
    .from(alertDelivery)
    .where(recent);
  if (!found?.first || found.count < messages) return null;
  return new Date(found.first.getTime() + periodMs);
}

/**
 * Releases what channels have held: one message as it is, several as one digest. Returns how many channels there were.
 */
export async function releaseHeldAlerts({ ctx }: Pick<Call<never>, "ctx">): Promise<number> {
  authorizePlatform(ctx);
  const now = ctx.clock.now();
  const dueHere = and(eq(alertDelivery.status, "held"), lte(alertDelivery.dueAt, now));
  const found = await ctx.db
    .selectDistinct({ id: alertDelivery.channelId })
    .from(alertDelivery)
    .where(dueHere)
    .limit(100);
  for (const { id } of found) {
    await ctx.db.transaction(async (tx) => {
      // One process at a time for a channel.
      const [channel] = await tx.select().from(alertChannel).where(eq(alertChannel.id, id)).for("update");
      const held = and(eq(alertDelivery.channelId, id), dueHere);
      if (!channel) return;
      const until = quietUntil(quietHoursOf(channel), now);
      if (until) await tx.update(alertDelivery).set({ dueAt: until }).where(held);
      else await release(tx, held, { channelId: id, now });
    });
  }
  return found.length;
}

async function release(
  tx: Transaction,
  held: ReturnType<typeof and>,
  { channelId, now }: { readonly channelId: string; readonly now: Date },
): Promise<void> {
  const waiting = await tx.$count(alertDelivery, held);
  if (waiting === 0) return;
  if (waiting === 1) {
    await tx.update(alertDelivery).set({ status: "waiting", dueAt: now }).where(held);
    return;
  }
  const id = newId();
  const digest = { id, channelId, kind: "digest", status: "waiting", dueAt: now, createdAt: now };
  await tx.insert(alertDelivery).values(digest);
  await tx.update(alertDelivery).set({ status: "digested", digestId: id, settledAt: now }).where(held);
}
