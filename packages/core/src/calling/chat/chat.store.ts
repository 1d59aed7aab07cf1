import type { Database, Transaction } from "@towpath/db";
import { chat, chatTurn } from "@towpath/db/schema";
import { and, asc, eq } from "drizzle-orm";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";

export type ChatOwner = { readonly projectId: string; readonly userId: string };

/** A person's own chat with a project. @throws TowpathError `not_found`, also for a chat of somebody else */
export async function fetchChat(
  db: Database | Transaction,
  owner: ChatOwner,
  chatId: string,
): Promise<typeof chat.$inferSelect> {
  const [row] = isId(chatId)
    ? await db
        .select()
        .from(chat)
        .where(and(eq(chat.projectId, owner.projectId), eq(chat.userId, owner.userId), eq(chat.id, chatId)))
    : [];
  if (!row) throw notFound("chat");
  return row;
}

/** The turns of a chat that was fetched, in order. */
export function selectTurns(db: Database | Transaction, chatId: string): Promise<(typeof chatTurn.$inferSelect)[]> {
  return db.select().from(chatTurn).where(eq(chatTurn.chatId, chatId)).orderBy(asc(chatTurn.number));
}
