import { chat } from "@towpath/db/schema";
import { and, desc, eq } from "drizzle-orm";
import { authorizeProject, type ProjectScope, requireUser } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import { chatTitleSchema } from "./chat.schema.ts";
import { type ChatOwner, fetchChat, selectTurns } from "./chat.store.ts";
import { type ChatSummary, type ChatView, chatSummary, turnView } from "./chat.view.ts";

// A chat belongs to one person, so changes of its name aren't in the organization's audit log. What its tools did is in
// the request log.

const maxListed = 200;

type ChatScope = ProjectScope & { readonly chatId: string };

async function ownerOf(ctx: Context, scope: ProjectScope): Promise<ChatOwner> {
  const { project } = await authorizeProject(ctx, "project.read", scope);
  return { projectId: project.id, userId: requireUser(ctx) };
}

/** The acting person's latest 200 chats with a project, newest first. */
export async function listChats({ ctx, input }: Call<ProjectScope>): Promise<readonly ChatSummary[]> {
  const { projectId, userId } = await ownerOf(ctx, input);
  const rows = await ctx.db
    .select()
    .from(chat)
    .where(and(eq(chat.projectId, projectId), eq(chat.userId, userId)))
    .orderBy(desc(chat.updatedAt))
    .limit(maxListed);
  return rows.map(chatSummary);
}

/** One of their chats with all turns. @throws TowpathError `not_found` */
export async function getChat({ ctx, input }: Call<ChatScope>): Promise<ChatView> {
  const row = await fetchChat(ctx.db, await ownerOf(ctx, input), input.chatId);
  const turns = await selectTurns(ctx.db, row.id);
  return { ...chatSummary(row), turns: turns.map((turn) => turnView(turn, ctx.clock.now())) };
}

/** @throws TowpathError `not_found`; `invalid_input` for no name or one of more than 120 characters */
export async function renameChat({ ctx, input }: Call<ChatScope & { readonly title: string }>): Promise<ChatSummary> {
  const owner = await ownerOf(ctx, input);
  const title = parseInput(chatTitleSchema, input.title);
  const row = await fetchChat(ctx.db, owner, input.chatId);
  await ctx.db.update(chat).set({ title }).where(eq(chat.id, row.id));
  return { ...chatSummary(row), title };
}

/** Deletes a chat with its turns. What it used of the models still counts. @throws TowpathError `not_found` */
export async function deleteChat({ ctx, input }: Call<ChatScope>): Promise<void> {
  const row = await fetchChat(ctx.db, await ownerOf(ctx, input), input.chatId);
  await ctx.db.delete(chat).where(eq(chat.id, row.id));
}
