import { chat, chatTurn, chatUsage } from "@towpath/db/schema";
import { and, eq, isNull, sql } from "drizzle-orm";
import { authorizeProject, type ProjectScope, requireUser } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { isId, parseInput } from "../../input/index.ts";
import { type ChatPart, type ChatProblem, type ChatReply, type ChatStatus, chatReplySchema } from "./chat.schema.ts";
import { fetchChat } from "./chat.store.ts";

/** The database notifies this channel of replies and stops. The payload is the turn's id. */
export const chatTurnChannel = "towpath_chat_turn";

const maxReplyBytes = 64 * 1024;

type TurnTokens = { readonly inputTokens: number; readonly outputTokens: number };

/** Records what a turn has used so far, so that it counts even if the process dies. `tokens`: totals of the turn. */
export async function recordUsage({ ctx, input }: Call<{ readonly turnId: string } & TurnTokens>): Promise<void> {
  const { turnId, inputTokens, outputTokens } = input;
  const own = and(eq(chatUsage.id, turnId), eq(chatUsage.userId, requireUser(ctx)));
  await ctx.db.update(chatUsage).set({ inputTokens, outputTokens }).where(own);
}

/** Stores the answer of a turn that ran here, unless it was stored before or its chat was deleted. */
export async function endTurn(call: {
  ctx: Context;
  input: {
    readonly turnId: string;
    readonly status: Exclude<ChatStatus, "running">;
    readonly parts: readonly ChatPart[];
    readonly problem: ChatProblem | null;
  } & TurnTokens;
}): Promise<void> {
  const { ctx, input } = call;
  const { turnId, ...ended } = input;
  const userId = requireUser(ctx);
  await ctx.db
    .update(chatTurn)
    .set({ ...ended, replies: {}, endedAt: ctx.clock.now() })
    .where(
      and(
        eq(chatTurn.id, turnId),
        isNull(chatTurn.endedAt),
        sql`${chatTurn.chatId} IN (SELECT ${chat.id} FROM ${chat} WHERE ${chat.userId} = ${userId})`,
      ),
    );
  await recordUsage(call);
}

type TurnScope = ProjectScope & { readonly chatId: string; readonly turnId: string };

/** Stops a turn, wherever it runs: its process stores what was answered until then. */
export async function stopTurn({ ctx, input }: Call<TurnScope>): Promise<void> {
  const { project } = await authorizeProject(ctx, "project.read", input);
  const row = await fetchChat(ctx.db, { projectId: project.id, userId: requireUser(ctx) }, input.chatId);
  await ctx.db.execute(sql`WITH stopped AS (
      UPDATE ${chatTurn} SET status = 'stopped'
        WHERE id = ${isId(input.turnId) ? input.turnId : null} AND chat_id = ${row.id} AND status = 'running'
        RETURNING id)
    SELECT pg_notify(${chatTurnChannel}, id::text) FROM stopped`);
}

/** Whether a turn of the acting person is still stored as running. */
export async function isTurnRunning({ ctx, input }: Call<{ readonly turnId: string }>): Promise<boolean> {
  const [row] = await ctx.db
    .select({ status: chatTurn.status })
    .from(chatTurn)
    .innerJoin(chat, eq(chat.id, chatTurn.chatId))
    .where(and(eq(chatTurn.id, input.turnId), eq(chat.userId, requireUser(ctx))));
  return row?.status === "running";
}

/**
 * Answers an approval or a form of a turn under way, wherever it runs. The first answer counts.
 *
 * @throws TowpathError `not_found` for a chat of others, `conflict` when the turn has ended
 */
export async function replyToTurn(call: {
  ctx: Context;
  /** `id`: of the tool call or the form. */
  input: TurnScope & { readonly id: string; readonly reply: ChatReply };
}): Promise<void> {
  const { ctx, input } = call;
  const { project } = await authorizeProject(ctx, "project.read", input);
  const row = await fetchChat(ctx.db, { projectId: project.id, userId: requireUser(ctx) }, input.chatId);
  const reply = parseInput(chatReplySchema, input.reply);
  const stored = JSON.stringify({ [input.id]: reply });
  if (stored.length > maxReplyBytes) throw new TowpathError("invalid_input", "The answer is too long.");
  const { rowCount } = await ctx.db.execute(sql`WITH replied AS (
      UPDATE ${chatTurn} SET replies = ${stored}::jsonb || replies
        WHERE id = ${isId(input.turnId) ? input.turnId : null} AND chat_id = ${row.id} AND status = 'running'
        RETURNING id)
    SELECT pg_notify(${chatTurnChannel}, id::text) FROM replied`);
  if (rowCount === 0)
    throw new TowpathError("conflict", "This answer has ended, so nothing waits for your reply. Ask again.");
}

/** Takes the reply to an approval or a form of the acting person's turn; null while there is none. It isn't kept. */
export async function takeReply({
  ctx,
  input,
}: Call<{ readonly turnId: string; readonly id: string }>): Promise<ChatReply | null> {
  const userId = requireUser(ctx);
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx
      .select({ reply: sql<unknown>`${chatTurn.replies} -> ${input.id}::text` })
      .from(chatTurn)
      .innerJoin(chat, eq(chat.id, chatTurn.chatId))
      .where(and(eq(chatTurn.id, input.turnId), eq(chat.userId, userId)))
      .for("update", { of: chatTurn });
    const reply = chatReplySchema.safeParse(row?.reply);
    if (!reply.success) return null;
    await tx
      .update(chatTurn)
      .set({ replies: sql`${chatTurn.replies} - ${input.id}::text` })
      .where(eq(chatTurn.id, input.turnId));
    return reply.data;
  });
}
