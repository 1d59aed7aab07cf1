import type { Elicitation, ElicitationAnswer, LogMessage, Sampling, SamplingAnswer } from "@towpath/mcp/web-client";
import type { Progress } from "../connection/server-connection.ts";
import type { CallResult, ServerCall } from "../inspector.schema.ts";

/** A question of the server while a call runs. `answer`: what became of it, in a word; null while it waits. */
type Asked = { readonly id: string; readonly answer: string | null } & (
  | { readonly kind: "form"; readonly asked: Elicitation }
  | { readonly kind: "model"; readonly asked: Sampling }
);

export type Reply =
  | { readonly kind: "form"; readonly answer: ElicitationAnswer }
  | { readonly kind: "model"; readonly answer: SamplingAnswer | null };

/** What a server said while a call ran. `at`: milliseconds after the call began. */
export type LogEntry = LogMessage & { readonly at: number };

export type CallRecord = {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The item that was called: `tools:echo`. */
  readonly item: string;
  readonly call: ServerCall;
  /** Paths of arguments with secrets, which `call` of a record from an earlier visit lacks. */
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

const formWords = { accept: "answered", decline: "declined", cancel: "not answered" } as const;

/** The record once a question of it was answered. What was answered isn't kept. */
export function withReply(record: CallRecord, id: string, reply: Reply): CallRecord {
  const answer = reply.kind === "form" ? formWords[reply.answer.action] : reply.answer ? "answered" : "not allowed";
  return { ...record, asked: record.asked.map((each) => (each.id === id ? { ...each, answer } : each)) };
}

/** The record once the call has ended: questions that still wait aren't answered any more. */
export const ended = (record: CallRecord, outcome: CallResult): CallRecord => ({
  ...record,
  outcome,
  progress: outcome.ok ? null : record.progress,
  asked: record.asked.map((each) => (each.answer === null ? { ...each, answer: "not answered" } : each)),
});
