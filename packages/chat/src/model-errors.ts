import type { ChatProblem } from "@towpath/core/calling/chat/schema";
import { APICallError, RetryError } from "ai";
import type { ChatModel } from "./config.ts";

/** The model has sent nothing for too long. */
export class ModelSilent extends Error {
  constructor(seconds: number) {
    super(`nothing for ${seconds} s`);
    this.name = "ModelSilent";
  }
}

const maxQuote = 300;
/** OpenAI has a code for this; Anthropic and most others only a message. */
const tooLong = /context_length_exceeded|context (length|window)|prompt is too long|maximum context|too many tokens/i;

/** Whether the model has read nothing: its provider refused the request, or nobody was reached. */
export function wasRefused(error: unknown): boolean {
  const cause = causeOf(error);
  return APICallError.isInstance(cause) && !hasBegun(cause);
}

/** Its answer began, and broke off before anything of it could be read. */
const hasBegun = ({ statusCode }: APICallError) => statusCode !== undefined && statusCode < 300;

const causeOf = (error: unknown) => (RetryError.isInstance(error) ? error.lastError : error);

/** What happened and what to do about it, for the person who asked. Never holds the key. */
export function problemOfModel(error: unknown, model: ChatModel): ChatProblem {
  const cause = causeOf(error);
  const name = model.name;
  if (cause instanceof ModelSilent) {
    return { code: "model_unreachable", message: `${name} sent ${cause.message}, so its answer was ended. Try again.` };
  }
  if (!APICallError.isInstance(cause) || hasBegun(cause)) {
    const reason = quote(cause instanceof Error ? cause.message : String(cause), model);
    if (tooLong.test(reason)) return contextTooLong(name);
    return { code: "model_failed", message: `${name} broke off its answer: ${reason} Try again.` };
  }
  const { statusCode } = cause;
  if (statusCode === undefined) {
    const message = `${name} can't be reached. Try again; if it stays so, the operator has to check its address.`;
    return { code: "model_unreachable", message };
  }
  if (statusCode === 401 || statusCode === 403) {
    const message = `${name} refused Towpath's key (HTTP ${statusCode}). The operator has to correct it in TOWPATH_CHAT_MODELS.`;
    return { code: "key_refused", message };
  }
  if (statusCode === 404) {
    const message = `The provider doesn't know ${name} (HTTP 404). The operator has to correct its model id or URL.`;
    return { code: "model_missing", message };
  }
  if (statusCode === 429 || statusCode === 402) return rateLimited(name, cause);
  if (statusCode === 413 || tooLong.test(`${cause.message} ${cause.responseBody ?? ""}`)) return contextTooLong(name);
  if (statusCode >= 500) {
    return { code: "model_unreachable", message: `${name} is out of order (HTTP ${statusCode}). Try again later.` };
  }
  return { code: "model_failed", message: `${name} refused the request: ${quote(cause.message, model)}` };
}

function rateLimited(name: string, cause: APICallError): ChatProblem {
  if (cause.statusCode === 402) {
    return {
      code: "rate_limited",
      message: `The provider of ${name} asks for payment. The operator has to see to it.`,
    };
  }
  const seconds = Number(cause.responseHeaders?.["retry-after"]);
  const when = Number.isFinite(seconds) && seconds > 0 ? `in ${Math.ceil(seconds)} s` : "in a minute";
  const message = `${name} has too many requests or no credit left (HTTP 429). Try again ${when}; if it stays so, tell the operator.`;
  return { code: "rate_limited", message };
}

const contextTooLong = (name: string): ChatProblem => ({
  code: "context_too_long",
  message: `This chat is longer than ${name} can read. Start a new one, or ask for less at once.`,
});

function quote(text: string, { key }: ChatModel): string {
  const safe = key === undefined ? text : text.replaceAll(key, "[key]");
  const line = safe.replace(/\s+/g, " ").trim();
  return line.length > maxQuote ? `${line.slice(0, maxQuote)}…` : line.replace(/([^.!?…])$/, "$1.");
}
