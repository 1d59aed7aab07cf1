import type { chat, chatTurn } from "@towpath/db/schema";
import {
  type ChatAttachment,
  type ChatPart,
  type ChatProblem,
  type ChatStatus,
  chatAttachmentsSchema,
  chatPartsSchema,
  chatProblemSchema,
  chatStatusSchema,
} from "./chat.schema.ts";

/** Longest time of a turn, waiting for the person included. */
export const maxTurnMs = 30 * 60_000;

export type ChatTurnView = {
  readonly id: string;
  readonly number: number;
  readonly question: string;
  readonly attachments: readonly ChatAttachment[];
  readonly model: string;
  readonly deploymentId: string;
  readonly status: ChatStatus;
  readonly parts: readonly ChatPart[];
  readonly problem: ChatProblem | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** ISO 8601 */
  readonly createdAt: string;
};

export type ChatSummary = {
  readonly id: string;
  readonly title: string;
  /** Of its latest question, ISO 8601. */
  readonly updatedAt: string;
};

export type ChatView = ChatSummary & { readonly turns: readonly ChatTurnView[] };

export const chatSummary = (row: typeof chat.$inferSelect): ChatSummary => ({
  id: row.id,
  title: row.title,
  updatedAt: row.updatedAt.toISOString(),
});

const interrupted: ChatProblem = {
  code: "interrupted",
  message: "The answer broke off because Towpath restarted. Ask again.",
};

/** A turn as stored. Parts written by a later version that this one can't read are left out. */
export function turnView(row: typeof chatTurn.$inferSelect, now: Date): ChatTurnView {
  const isLost = row.status === "running" && now.getTime() - row.createdAt.getTime() > maxTurnMs;
  return {
    id: row.id,
    number: row.number,
    question: row.question,
    attachments: chatAttachmentsSchema.catch([]).parse(row.attachments),
    model: row.model,
    deploymentId: row.deploymentId,
    status: isLost ? "failed" : chatStatusSchema.catch("failed").parse(row.status),
    parts: chatPartsSchema.catch([]).parse(row.parts),
    problem: isLost ? interrupted : chatProblemSchema.nullable().catch(null).parse(row.problem),
    inputTokens: row.inputTokens,
    outputTokens: row.outputTokens,
    createdAt: row.createdAt.toISOString(),
  };
}
