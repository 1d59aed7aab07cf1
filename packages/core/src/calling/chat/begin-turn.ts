import type { Transaction } from "@towpath/db";
import { chat, chatTurn, chatUsage } from "@towpath/db/schema";
import { and, count, eq, gte, min, sql, sum } from "drizzle-orm";
import { type ProjectScope, requireUser } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { parseInput } from "../../input/index.ts";
import { authorizeCaller } from "../access/index.ts";
import { type AskInput, askSchema } from "./chat.schema.ts";
import { type ChatOwner, fetchChat, selectTurns } from "./chat.store.ts";
import { type ChatTurnView, maxTurnMs, turnView } from "./chat.view.ts";

/** What the operator lets people use of the models. */
export type ChatLimits = {
  /** Of one person. */
  readonly questionsPerHour: number;
  /** Of an organization, input and output together. */
  readonly tokensPerDay: number;
};

export type BegunTurn = {
  readonly chatId: string;
  readonly title: string;
  readonly turnId: string;
  /** The turns before it, in order. */
  readonly history: readonly ChatTurnView[];
};

const hourMs = 3_600_000;
const maxAtOnce = 3;
const maxTurns = 200;
const titleLength = 60;

/**
 * Stores a question as a running turn. It counts towards the limits at once, however it ends.
 *
 * @throws TowpathError `forbidden` for who may not call the server; `not_found` for a chat of others; `conflict` while
 *   the chat still answers; `limit_reached` with the time from which on one can ask again
 */
export async function beginTurn(call: {
  ctx: Context;
  input: ProjectScope & AskInput;
  limits: ChatLimits;
}): Promise<BegunTurn> {
  const { ctx, limits } = call;
  const { project, organization } = await authorizeCaller(ctx, call.input);
  const userId = requireUser(ctx);
  const input = parseInput(askSchema, call.input);
  const owner: ChatOwner = { projectId: project.id, userId };
  return ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const turnId = newId();
    const { question, attachments, model, deploymentId } = input;
    await countUse(tx, { id: turnId, organizationId: organization.id, ...owner, model, time: now }, limits);
    const { row, history } = await openChat(tx, owner, input, now);
    const number = (history.at(-1)?.number ?? 0) + 1;
    await tx.insert(chatTurn).values({
      id: turnId,
      chatId: row.id,
      number,
      question,
      attachments,
      model,
      deploymentId,
      status: "running",
      createdAt: now,
    });
    return { chatId: row.id, title: row.title, turnId, history };
  });
}

/**
 * Counts a use of a model for something else than a turn, towards the same limits. Returns its id, for `recordUsage`.
 *
 * @throws TowpathError `forbidden` for who may not call the server, `limit_reached`
 */
export async function countModelUse(call: {
  ctx: Context;
  input: ProjectScope & { readonly model: string };
  limits: ChatLimits;
}): Promise<string> {
  const { ctx, input, limits } = call;
  const { project, organization } = await authorizeCaller(ctx, input);
  const owner: ChatOwner = { projectId: project.id, userId: requireUser(ctx) };
  const use = { id: newId(), organizationId: organization.id, ...owner, model: input.model, time: ctx.clock.now() };
  await ctx.db.transaction((tx) => countUse(tx, use, limits));
  return use.id;
}

type Use = ChatOwner & {
  readonly id: string;
  readonly organizationId: string;
  readonly model: string;
  readonly time: Date;
};

async function countUse(tx: Transaction, use: Use, limits: ChatLimits): Promise<void> {
  // One at a time for each person: otherwise questions sent at once would all pass the limits.
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`chat:${use.userId}`}, 0))`);
  await checkPerson(tx, use.userId, limits, use.time);
  await checkOrganization(tx, use.organizationId, limits.tokensPerDay, use.time);
  await tx.insert(chatUsage).values(use);
}

async function openChat(tx: Transaction, owner: ChatOwner, input: AskInput, now: Date) {
  if (input.chatId === null) {
    const values = { id: newId(), ...owner, title: titleOf(input.question), createdAt: now, updatedAt: now };
    await tx.insert(chat).values(values);
    return { row: values, history: [] };
  }
  const row = await fetchChat(tx, owner, input.chatId);
  const turns = (await selectTurns(tx, row.id)).map((turn) => turnView(turn, now));
  const last = turns.at(-1);
  if (last?.status === "running")
    throw new TowpathError("conflict", "This chat is still answering. Wait for it, or stop it first.");
  const history = input.replacesLast ? turns.slice(0, -1) : turns;
  if (history.length >= maxTurns)
    throw new TowpathError(
      "limit_reached",
      `This chat has ${maxTurns} questions, which is the limit. Start a new one.`,
    );
  if (input.replacesLast && last) await tx.delete(chatTurn).where(eq(chatTurn.id, last.id));
  await tx.update(chat).set({ updatedAt: now }).where(eq(chat.id, row.id));
  return { row, history };
}

async function checkPerson(tx: Transaction, userId: string, limits: ChatLimits, now: Date): Promise<void> {
  const since = new Date(now.getTime() - hourMs);
  const [used] = await tx
    .select({ questions: count(), first: min(chatUsage.time) })
    .from(chatUsage)
    .where(and(eq(chatUsage.userId, userId), gte(chatUsage.time, since)));
  if (used && used.questions >= limits.questionsPerHour) {
    const again = new Date((used.first ?? now).getTime() + hourMs);
    const minutes = Math.max(1, Math.ceil((again.getTime() - now.getTime()) / 60_000));
    throw new TowpathError(
      "limit_reached",
      `You have asked ${limits.questionsPerHour} questions within an hour, which is the limit. Ask again in ${minutes} min.`,
    );
  }
  const [running] = await tx
    .select({ turns: count() })
    .from(chatTurn)
    .innerJoin(chatUsage, eq(chatUsage.id, chatTurn.id))
    .where(
      and(
        eq(chatUsage.userId, userId),
        gte(chatUsage.time, new Date(now.getTime() - maxTurnMs)),
        eq(chatTurn.status, "running"),
      ),
    );
  if (running && running.turns >= maxAtOnce)
    throw new TowpathError("limit_reached", `${maxAtOnce} of your chats are answering. Wait for one, or stop it.`);
}

/** @throws TowpathError `limit_reached` once an organization has used its tokens of a day */
export async function checkOrganization(tx: Transaction, organizationId: string, tokensPerDay: number, now: Date) {
  const since = new Date(now.getTime() - 24 * hourMs);
  const [used] = await tx
    .select({
      tokens: sum(sql`${chatUsage.inputTokens} + ${chatUsage.outputTokens}`).mapWith(Number),
    })
    .from(chatUsage)
    .where(and(eq(chatUsage.organizationId, organizationId), gte(chatUsage.time, since)));
  if ((used?.tokens ?? 0) < tokensPerDay) return;
  throw new TowpathError(
    "limit_reached",
    `Your organization has used ${tokensPerDay.toLocaleString("en")} tokens within 24 hours, which is the limit. ` +
      "Ask again later, or ask the operator to raise it.",
  );
}

/** The question's first line, cut at a word. */
function titleOf(question: string): string {
  const line = (question.split("\n", 1)[0] ?? "").trim();
  if (line.length <= titleLength) return line;
  const cut = line.slice(0, titleLength);
  const space = cut.lastIndexOf(" ");
  return `${space > titleLength / 2 ? cut.slice(0, space) : cut}…`;
}
