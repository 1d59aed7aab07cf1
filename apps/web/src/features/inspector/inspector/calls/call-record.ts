import type { Elicitation, ElicitationAnswer, LogMessage, Sampling, SamplingAnswer } from "@towpath/mcp/web-client";
import type { Progress } from "../connection/server-connection.ts";
import type { CallResult, ServerCall } from "../server-call.ts";

/** A question of the server during a call. `answer`: the kind of answer, such as `declined`; null while it waits. */
type Asked = { readonly id: string; readonly answer: string | null } & (
  | { readonly kind: "form"; readonly asked: Elicitation }
  | { readonly kind: "model"; readonly asked: Sampling }
);

export type Reply =
  | { readonly kind: "form"; readonly answer: ElicitationAnswer }
  | { readonly kind: "model"; readonly answer: SamplingAnswer | null };

/** A log message of the server. `at`: milliseconds after the call began. */
export type LogEntry = LogMessage & { readonly at: number };

export type CallRecord = {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The item that was called: `tools:echo`. */
  readonly item: string;
  readonly call: ServerCall;
  /** Paths of arguments with secrets, which are missing in `call` of an earlier visit's record. */
  readonly hidden: readonly string[];
  /** Null while it runs. */
  readonly outcome: CallResult | null;
  /** Its row of the request log. */
  readonly requestId: string | null;
  readonly progress: Progress | null;
  readonly logs: readonly LogEntry[];
  readonly asked: readonly Asked[];
  /** The result was too large, or showed a secret, and wasn't kept over the reload. */
  readonly isResultDropped: boolean;
};

export const maxRecords = 50;
const maxLogs = 500;

export function newRecord(started: Pick<CallRecord, "id" | "time" | "item" | "call" | "hidden">): CallRecord {
  return { ...started, outcome: null, requestId: null, progress: null, logs: [], asked: [], isResultDropped: false };
}

/** The newest messages of the server. */
export const withLog = (record: CallRecord, message: LogMessage, now: number): CallRecord => ({
  ...record,
  logs: [...record.logs, { ...message, at: now - record.time }].slice(-maxLogs),
});

const formAnswers = { accept: "answered", decline: "declined", cancel: "not answered" } as const;

/** The record after an answer to one of its questions. The answer itself isn't kept. */
export function withReply(record: CallRecord, id: string, reply: Reply): CallRecord {
  const answer = reply.kind === "form" ? formAnswers[reply.answer.action] : reply.answer ? "answered" : "not allowed";
  return { ...record, asked: record.asked.map((each) => (each.id === id ? { ...each, answer } : each)) };
}

/** The record after the call's end: questions that still wait count as not answered. */
export const ended = (record: CallRecord, outcome: CallResult): CallRecord => ({
  ...record,
  outcome,
  progress: outcome.ok ? null : record.progress,
  asked: record.asked.map((each) => (each.answer === null ? { ...each, answer: "not answered" } : each)),
});
