import type { Transaction } from "@towpath/db";
import { alertChannel, alertDelivery } from "@towpath/db/schema";
import { and, asc, eq, exists, isNull, lte, or, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import type { WebhookAnswer } from "../../ports/index.ts";
import { type ChannelRow, dropWaiting } from "./channel.store.ts";
import { type DeliveryRow, messageOf } from "./message.store.ts";
import { postMessage, queueMail } from "./send-message.ts";

const secondMs = 1000;
const hourMs = 3600 * secondMs;

/** Longer than an attempt takes. The message of a worker that was killed is sent again after that, with the same id. */
const claimMs = 25 * secondMs;

/** Pauses after the attempts of a message, for 22 hours together; it fails after the last. */
const retryPausesMs = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 21_600, 28_800].map((each) => each * secondMs);
/** Pauses of a channel after failed attempts in a row, so that one that never answers takes few attempts of a worker. */
const channelPausesMs = [1, 5, 30, 300].map((each) => each * secondMs);
/** What a receiver may ask for (`Retry-After`). */
const longestAskedMs = hourMs;

type DeliveryContext = Context<"secrets" | "webhooks" | "mail">;
type Claim = { readonly delivery: DeliveryRow; readonly channel: ChannelRow };

/**
 * Takes the next message that is due, of a channel of which no message is being sent, for `claimMs`. Null: none is due.
 * For workers, which then call `deliverAlert`. `withFailing`: also of channels whose last attempts failed.
 */
export async function claimAlert({ ctx, input }: Call<{ readonly withFailing: boolean }>): Promise<Claim | null> {
  authorizePlatform(ctx);
  const now = ctx.clock.now();
  const due = and(eq(alertDelivery.status, "waiting"), lte(alertDelivery.dueAt, now));
  return ctx.db.transaction(async (tx) => {
    const ofChannel = eq(alertDelivery.channelId, alertChannel.id);
    const [channel] = await tx
      .select()
      .from(alertChannel)
      .where(
        and(
          isNull(alertChannel.disabledFor),
          input.withFailing ? undefined : eq(alertChannel.failures, 0),
          lte(alertChannel.nextAttemptAt, now),
          or(isNull(alertChannel.claimedUntil), lte(alertChannel.claimedUntil, now)),
          exists(tx.select({ id: alertDelivery.id }).from(alertDelivery).where(and(ofChannel, due))),
        ),
      )
      .orderBy(asc(alertChannel.nextAttemptAt))
      .limit(1)
      .for("update", { skipLocked: true });
    if (!channel) return null;
    const [next] = await tx
      .select({ id: alertDelivery.id })
      .from(alertDelivery)
      .where(and(eq(alertDelivery.channelId, channel.id), due))
      .orderBy(asc(alertDelivery.dueAt), asc(alertDelivery.id))
      .limit(1);
    if (!next) return null;
    const claimedUntil = new Date(now.getTime() + claimMs);
    await tx.update(alertChannel).set({ claimedUntil }).where(eq(alertChannel.id, channel.id));
    const [delivery] = await tx
      .update(alertDelivery)
      .set({ attempts: sql`${alertDelivery.attempts} + 1`, lastAttemptAt: now })
      .where(eq(alertDelivery.id, next.id))
      .returning();
    return delivery ? { delivery, channel: { ...channel, claimedUntil } } : null;
  });
}

type Outcome = "sent" | "retried" | "failed" | "gone";

/** Sends a claimed message and stores the result. Rejects only when the database or a key fails. */
export async function deliverAlert({
  ctx,
  input,
}: {
  readonly ctx: DeliveryContext;
  readonly input: Claim;
}): Promise<Outcome> {
  authorizePlatform(ctx);
  const { delivery, channel } = input;
  const message = await messageOf(ctx, delivery, channel);
  if (message === null) return settle(ctx, input, { kind: "final", text: "What it was about was deleted." });
  if (channel.format !== "mail") {
    const answer = await postMessage(ctx, channel, { id: delivery.id, message });
    return settle(ctx, input, outcomeOf(answer));
  }
  const { mail } = ctx;
  if (mail === null)
    return settle(ctx, input, { kind: "again", text: "This instance sends no email (TOWPATH_SMTP_URL)." });
  try {
    return await ctx.db.transaction(async (tx) => {
      if (!(await holdsClaim(tx, input))) return "retried";
      const mailIds = await queueMail(tx, mail, channel, { message, sender: null });
      const text = mailIds.length === 0 ? "None of its recipients is a member any more." : null;
      await finish(tx, ctx, input, { status: text === null ? "sent" : "failed", mailIds, text });
      return text === null ? "sent" : "failed";
    });
  } catch (error) {
    if (!(error instanceof TowpathError)) throw error;
    return settle(ctx, input, { kind: "again", text: error.message });
  }
}

type Result =
  | { readonly kind: "sent"; readonly status: number; readonly text: string }
  | { readonly kind: "gone"; readonly status: number; readonly text: string }
  | { readonly kind: "final"; readonly text: string }
  | { readonly kind: "again"; readonly status?: number; readonly text: string; readonly afterMs?: number };

function outcomeOf(answer: WebhookAnswer): Result {
  if (answer.kind === "problem") return { kind: "again", text: answer.message };
  const { status, text, retryAfterSeconds } = answer;
  if (status >= 200 && status < 300) return { kind: "sent", status, text };
  if (status === 410) return { kind: "gone", status, text };
  const askedMs = (retryAfterSeconds ?? 0) * secondMs;
  return { kind: "again", status, text, afterMs: Math.min(askedMs, longestAskedMs) };
}

/** Whether it is still this worker's: it may have been late, and another one have taken the message. */
async function holdsClaim(tx: Transaction, { delivery, channel }: Claim): Promise<boolean> {
  await tx.select({ id: alertChannel.id }).from(alertChannel).where(eq(alertChannel.id, channel.id)).for("update");
  const [row] = await tx
    .select({ status: alertDelivery.status, attempts: alertDelivery.attempts })
    .from(alertDelivery)
    .where(eq(alertDelivery.id, delivery.id));
  return row?.status === "waiting" && row.attempts === delivery.attempts;
}

async function settle(ctx: DeliveryContext, claim: Claim, result: Result): Promise<Outcome> {
  return ctx.db.transaction(async (tx) => {
    // A success counts however late it is: it must not be sent again.
    if (!(await holdsClaim(tx, claim)) && result.kind !== "sent") return "retried";
    switch (result.kind) {
      case "sent":
        await finish(tx, ctx, claim, { ...result, status: "sent", httpStatus: result.status });
        return "sent";
      case "final":
        await finish(tx, ctx, claim, { ...result, status: "failed" });
        return "failed";
      case "gone":
        await finish(tx, ctx, claim, { ...result, status: "failed", httpStatus: result.status });
        await switchOff(tx, ctx, claim.channel);
        return "gone";
      case "again":
        return postpone(tx, ctx, claim, result);
    }
  });
}

type Finished = {
  readonly status: "sent" | "failed";
  readonly httpStatus?: number;
  readonly text: string | null;
  readonly mailIds?: readonly string[];
};

async function finish(tx: Transaction, ctx: Context, { delivery, channel }: Claim, finished: Finished): Promise<void> {
  const now = ctx.clock.now();
  const { status, httpStatus = null, text, mailIds } = finished;
  await tx
    .update(alertDelivery)
    .set({
      status,
      lastStatus: httpStatus,
      lastAnswer: text,
      settledAt: now,
      ...(mailIds && { mailIds: [...mailIds] }),
    })
    .where(eq(alertDelivery.id, delivery.id));
  await tx
    .update(alertChannel)
    .set({ claimedUntil: null, nextAttemptAt: now, ...(status === "sent" && { failures: 0 }) })
    .where(eq(alertChannel.id, channel.id));
}

async function postpone(
  tx: Transaction,
  ctx: Context,
  { delivery, channel }: Claim,
  { status = null, text, afterMs = 0 }: { status?: number | null; text: string; afterMs?: number },
): Promise<Outcome> {
  const now = ctx.clock.now();
  const after = (pauseMs: number) => new Date(now.getTime() + Math.max(pauseMs, afterMs));
  const pauseMs = retryPausesMs[delivery.attempts - 1];
  const failures = channel.failures + 1;
  const channelPauseMs = channelPausesMs[Math.min(failures, channelPausesMs.length) - 1] ?? 0;
  await tx
    .update(alertDelivery)
    .set({
      lastStatus: status,
      lastAnswer: text,
      ...(pauseMs === undefined ? { status: "failed", settledAt: now } : { dueAt: after(pauseMs) }),
    })
    .where(eq(alertDelivery.id, delivery.id));
  await tx
    .update(alertChannel)
    .set({ claimedUntil: null, failures, nextAttemptAt: after(channelPauseMs) })
    .where(eq(alertChannel.id, channel.id));
  return pauseMs === undefined ? "failed" : "retried";
}

/** 410 Gone: the receiver wants nothing any more (Standard Webhooks). */
async function switchOff(tx: Transaction, ctx: Context, { id, organizationId, name }: ChannelRow): Promise<void> {
  const now = ctx.clock.now();
  await tx.update(alertChannel).set({ disabledFor: "gone", updatedAt: now }).where(eq(alertChannel.id, id));
  await dropWaiting(tx, id, "The receiver answered 410, so the channel was switched off.", now);
  await audit(tx, ctx, { organizationId, action: "alertChannel.gone", subject: id, detail: { name } });
}
