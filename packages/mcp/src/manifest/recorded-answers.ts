import { z } from "zod";

/** Lists that clients read when they connect. */
export const listMethods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] as const;

/** The first revision without `initialize` and sessions. */
export const firstModernVersion = "2026-07-28";

const conversationSchema = z.object({
  /** The revision that the client requested. */
  requested: z.string(),
  /** The revision that was agreed on. */
  version: z.string(),
  /** Whether the server gave a session id. */
  hasSession: z.boolean(),
  /** By `answerKey`: HTTP status, index in `texts`, and whether the text is the part of the answer after its id. */
  answers: z.record(z.string(), z.object({ status: z.number(), text: z.number(), hasId: z.boolean() })),
});
export type Conversation = z.infer<typeof conversationSchema>;

/**
 * A server's answers to handshakes, pings and lists, one conversation for each revision of the protocol that a client
 * may request (GW-12). Refusals count too: from them, clients learn which revisions a server supports.
 */
export const recordedAnswersSchema = z.object({
  /**
   * JSON text: the part after the id in a JSON-RPC answer, such as `"result":{}`, or the whole body of a refusal that
   * doesn't repeat the request's id. Each text once: most revisions agree.
   */
  texts: z.array(z.string()),
  conversations: z.array(conversationSchema),
});
export type RecordedAnswers = z.infer<typeof recordedAnswersSchema>;

/** Names a request by its method and, for a further page of a list, its cursor. */
export function answerKey(method: string, cursor?: string): string {
  return cursor === undefined ? method : `${method} ${cursor}`;
}

/** Names a GET for a stream, whose answer has no text if it is one. Recorded for servers without sessions. */
export const streamKey = "GET";

/** Whether a revision is without `initialize` and sessions. */
export function isModern(version: string): boolean {
  return version >= firstModernVersion;
}
