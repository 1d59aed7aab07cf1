import type { StartAttempt } from "@towpath/logs/schema";
import { type RequestPeek, ResponsePeek } from "@towpath/mcp/peek";
import type { Redactor } from "@towpath/secrets/redaction";
import type { GatewayError } from "../gateway-error.ts";
import type { OpenedSession } from "../policy/sessions.ts";
import { captureBytes } from "../record/redact.ts";
import type { Admitted } from "./states.ts";

/** How an answer ended. */
export type AnswerEnd =
  /** It is complete. */
  | "complete"
  /** Its status is not sent on, and neither is the rest. */
  | "left-out"
  /** The client disconnected first; the connection to the server was closed as well. */
  | "client-closed"
  /** The server's connection broke during the answer; the client's was closed too. */
  | "server-closed"
  /** Nothing was sent to the server: safe to retry. */
  | "dial-failed"
  /** Nothing was sent, but the server lives: its queue of new connections is full. */
  | "backlog-full"
  /** The connection broke before an answer began; the server may have acted. */
  | "no-answer"
  /** The server did not begin its answer in time. */
  | "timed-out"
  /** The answer can't be filtered, so the client doesn't get it, or not all of it. */
  | "withheld";

/** What remains once a call's rows are on disk: a function that sends the answer's end. "over": nothing, it was cut. */
export type Rest = (() => void) | "over";

/** How a call came to its server. */
export type Delivery = {
  instanceId: string | null;
  /** How long it waited, milliseconds. */
  heldMs: number;
  /** performance.now() when it was last sent; null before. */
  sentAt: number | null;
  /** What it waited for because its server might not be ready; null: nothing. */
  startAttempt: StartAttempt | null;
};

export const undelivered: Readonly<Delivery> = { instanceId: null, heldMs: 0, sentAt: null, startAttempt: null };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The answer to a call as it passes through the gateway, and what the log keeps of it. */
export class Answer {
  /** 0 until it begins. */
  status = 0;
  /** False once an answer with a length has begun. */
  isStream = true;
  /** Whether events have begun. */
  isEventStream = false;
  bytes = 0;
  end: AnswerEnd | null = null;
  /** performance.now() of its end; null while it lasts. */
  endedAt: number | null = null;
  /** The JSON-RPC answers in it; null when they can't be read. */
  peek: ResponsePeek | null = null;
  refusal: GatewayError | null = null;
  /** The legacy session that this answer opens. */
  opened: OpenedSession | null = null;
  delivery: Readonly<Delivery> = undelivered;
  /** Its rows have been handed to the recorder. */
  isRecorded = false;
  /** For a portal's call: the answer of the server that it was passed on to; null: it hasn't been. */
  passedOn: Answer | null = null;
  /** For a call of a portal: it can't be a task of the server's own. Until that is known, it may be one. */
  isNoTask = false;
  #redactor: Redactor | null = null;
  /** For a portal: the answer of a server to its latest request, which may have opened a session only. */
  #member: Answer | null = null;

  /** `asker`: the answer of the portal that forwards this one. */
  constructor(asker: Answer | null) {
    if (asker) asker.#member = this;
  }

  /**
   * Removes the values of the server's variables from the call's rows; null: they are unknown. A portal has no
   * variables, but its servers' answers may hold theirs.
   */
  get redactor(): Redactor | null {
    return this.#member ? this.#member.redactor : this.#redactor;
  }

  set redactor(redactor: Redactor | null) {
    this.#redactor = redactor;
  }

  /** The portal's latest request was the call itself. */
  markPassedOn(): void {
    this.passedOn = this.#member;
  }

  begin(call: Admitted, status: number, headers: Headers): void {
    this.status = status;
    this.isStream = headers["content-length"] === undefined;
    this.isEventStream = status === 200 && String(headers["content-type"]).startsWith("text/event-stream");
    this.peek = peekOf(call, headers);
  }

  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.peek?.push(chunk);
  }

  refuse(refusal: GatewayError): void {
    this.refusal = refusal;
    this.status = refusal.status;
  }
}

/**
 * A reader of the answers in a response; null if it can't be read. It reads uncompressed JSON, and event streams that
 * answer requests or resume an earlier answer.
 */
function peekOf({ peek, session, received }: Admitted, headers: Headers): ResponsePeek | null {
  const resumes = session?.resumes ?? null;
  const requests = resumes ? resumes.map((call) => call.peek) : peek.messages.filter(isRequest);
  const type = headers["content-type"];
  if (requests.length === 0 && !resumes) return null;
  if (typeof type !== "string" || headers["content-encoding"] !== undefined) return null;
  const format = type.startsWith("text/event-stream") ? "sse" : type.startsWith("application/json") ? "json" : null;
  if (format === null) return null;
  const ids = requests.flatMap(({ id }) => id ?? []);
  return new ResponsePeek({
    // An id beyond the inspected part is unknown: then any answer counts.
    ids: ids.length === 0 || ids.length < requests.length ? null : ids,
    format,
    captureBytes: received.route.capturePayloads ? captureBytes : 0,
  });
}

const isRequest = ({ kind }: RequestPeek["messages"][number]) => kind === "request";
