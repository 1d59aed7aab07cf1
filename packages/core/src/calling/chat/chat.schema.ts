import { z } from "zod";

/** A form or an address that a tool asked the person for while it ran (MCP, elicitation). */
const chatFormSchema = z.object({
  id: z.string(),
  message: z.string(),
  /** JSON schema of the fields; null when the server sends the person to `url`. */
  schema: z.record(z.string(), z.unknown()).nullable(),
  url: z.string().nullable(),
  status: z.enum(["asked", "accept", "decline", "cancel"]),
});
/** See `chatFormSchema`. */
export type ChatForm = z.infer<typeof chatFormSchema>;

const toolPartSchema = z.object({
  kind: z.literal("tool"),
  /** The model's id of the call. */
  id: z.string(),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  /** asked: waits for the person's approval. */
  status: z.enum(["asked", "running", "done", "failed", "denied", "stopped"]),
  /** How the call came to be allowed; null: it wasn't, or not yet. */
  approval: z.enum(["not needed", "once", "always"]).nullable(),
  /** The server's result as in MCP; `isError` in it is the tool's own failure. */
  result: z.record(z.string(), z.unknown()).nullable(),
  /** Why there is no result. */
  error: z.string().nullable(),
  /** Whether parts of the result were left out because it was too large. */
  truncated: z.boolean(),
  durationMs: z.number().nullable(),
  /** Row of the request log. */
  requestId: z.string().nullable(),
  forms: z.array(chatFormSchema),
});
export type ChatToolPart = z.infer<typeof toolPartSchema>;

const chatPartSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: z.string() }),
  toolPartSchema,
]);
/** A piece of an answer, in order. */
export type ChatPart = z.infer<typeof chatPartSchema>;
export const chatPartsSchema = z.array(chatPartSchema);

const chatProblemCodes = [
  "key_refused",
  "rate_limited",
  "context_too_long",
  "model_missing",
  "model_unreachable",
  "model_failed",
  "server_unreachable",
  "answer_cut",
  "too_many_steps",
  "too_many_tokens",
  "too_slow",
  "interrupted",
] as const;
export const chatProblemSchema = z.object({ code: z.enum(chatProblemCodes), message: z.string() });
/** Why a turn failed: public text that says what to do. */
export type ChatProblem = z.infer<typeof chatProblemSchema>;

export const chatStatusSchema = z.enum(["running", "done", "stopped", "failed"]);
export type ChatStatus = z.infer<typeof chatStatusSchema>;

const maxQuestionLength = 32_000;
const maxAttachments = 10;
const name = z.string().min(1).max(1024);

/** What a person adds to a question: a resource that the server has, or one of its prompts. */
const chatAttachmentSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("resource"), name, uri: z.string().min(1).max(8192) }),
  z.object({ kind: z.literal("prompt"), name, arguments: z.record(z.string(), z.string().max(8192)) }),
]);
export type ChatAttachment = z.infer<typeof chatAttachmentSchema>;
export const chatAttachmentsSchema = z.array(chatAttachmentSchema);

/** A question to the model. */
export const askSchema = z.object({
  /** Null begins a chat. */
  chatId: z.uuid().nullable(),
  question: z
    .string()
    .trim()
    .min(1, "Ask something")
    .max(maxQuestionLength, `Questions have at most ${maxQuestionLength.toLocaleString("en")} characters`),
  attachments: z.array(chatAttachmentSchema).max(maxAttachments).default([]),
  /** Asks in place of the last question, whose answer is lost: for retry and edit. */
  replacesLast: z.boolean().default(false),
  model: z.string().min(1).max(100),
  deploymentId: z.uuid(),
});
export type AskInput = z.infer<typeof askSchema>;

/** An answer to an approval (`id`: of the tool call) or to a form (`id`: the form's). */
export const chatReplySchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("approval"), decision: z.enum(["once", "always", "deny"]) }),
  z.object({
    kind: z.literal("form"),
    action: z.enum(["accept", "decline", "cancel"]),
    content: z.record(z.string(), z.unknown()).nullable(),
  }),
]);
export type ChatReply = z.infer<typeof chatReplySchema>;

export const chatTitleSchema = z.string().trim().min(1, "Give the chat a name").max(120, "Use at most 120 characters");

/** What the stream of a turn says, in order. */
export type ChatEvent =
  | { readonly type: "started"; readonly chatId: string; readonly turnId: string; readonly title: string }
  | { readonly type: "text"; readonly delta: string }
  /** The tool call as it is now; the first with its id adds it. */
  | { readonly type: "tool"; readonly part: ChatToolPart }
  | {
      readonly type: "ended";
      readonly status: ChatStatus;
      readonly problem: ChatProblem | null;
      readonly inputTokens: number;
      readonly outputTokens: number;
    };

/** The parts of an answer after an event. Server and browser apply it alike. */
export function withEvent(parts: readonly ChatPart[], event: ChatEvent): readonly ChatPart[] {
  if (event.type === "text") {
    const last = parts.at(-1);
    if (last?.kind === "text") return [...parts.slice(0, -1), { kind: "text", text: last.text + event.delta }];
    return [...parts, { kind: "text", text: event.delta }];
  }
  if (event.type !== "tool") return parts;
  const known = parts.some((part) => part.kind === "tool" && part.id === event.part.id);
  if (!known) return [...parts, event.part];
  return parts.map((part) => (part.kind === "tool" && part.id === event.part.id ? event.part : part));
}
