import type { IncomingMessage } from "node:http";
import type { StartAttempt } from "@towpath/logs/schema";
import {
  type AnswerPeek,
  type PeekHints,
  peekHeaders,
  peekRequest,
  type RequestPeek,
  ResponsePeek,
} from "@towpath/mcp/peek";
import type { Redactor } from "@towpath/secrets/redaction";
import type { ForwardEnd } from "../forward/forward.ts";
import { headerOf } from "../forward/headers.ts";
import type { GatewayError } from "../gateway-error.ts";
import type { Session } from "../policy/sessions.ts";
import { deploymentOf, type Route } from "../read-model/routes.ts";
import type { TraceContext } from "../tracing/trace-context.ts";
import { captureBytes } from "./redact.ts";

/** One HTTP exchange with a server as it is observed, to become request-log rows (GW-7). */
export type Exchange = {
  /** What clients, servers and the log know the request by. */
  readonly id: string;
  readonly route: Route;
  /** The portal through which it came; null: its client sent it here. */
  readonly via: string | null;
  /** Whether it is with the MCP endpoint: the server's other pages get no rows. */
  readonly isMcp: boolean;
  /** Its rows have been handed to the recorder. */
  isRecorded: boolean;
  readonly httpMethod: string;
  /** The caller; anonymous until authenticated. */
  principal: string;
  /** What the headers say; what the body says once it was read. */
  peek: RequestPeek;
  body: Buffer | null;
  requestBytes: number;
  readonly traceparent: string | undefined;
  /** Its span; null when it is not traced. */
  trace: TraceContext | null;
  readonly userAgent: string | undefined;
  /** Set on a request for the rest of a stream that ended early. */
  readonly lastEventId: string | undefined;
  /** Date.now() and performance.now() of its begin. */
  readonly time: number;
  readonly startedAt: number;
  /** performance.now() of its end, and with it of its answer; null while it lasts. */
  endedAt: number | null;
  /** The deployment that serves it, of an earlier rollout where its session says so; null: the target is none. */
  deploymentId: string | null;
  /** Removes the values of the deployment's variables from its rows; null: they are not known. */
  redactor: Redactor | null;
  /** Of a portal's call: the exchange with the server that it was passed on to, whose variables its rows can hold too. */
  member: Exchange | null;
  instanceId: string | null;
  heldMs: number;
  /** performance.now() when the request was last sent to a server; null when it has not been. */
  sentAt: number | null;
  /** What it waited for because its server was not known to be ready; null: nothing. */
  startAttempt: StartAttempt | null;
  /** Identifies the legacy session in the log; a hash, not a usable session id. */
  session: string | null;
  /** What `initialize` said of the client. */
  client: Session | undefined;
  /** Ids of its requests that the client canceled with `notifications/cancelled` (legacy); null: none. */
  canceled: Set<string | number> | null;
  /** Passes that on, for a call of a portal; null: the client's message goes to the server by itself. */
  onCanceled: (() => void) | null;
  status: number;
  /** False once an answer has begun that says how long it is. */
  isStream: boolean;
  responseBytes: number;
  answers: ResponsePeek | null;
  end: ForwardEnd | null;
  refusal: GatewayError | null;
  /** For a request with Last-Event-ID: the calls of its session that still wait for an answer. */
  resumes: readonly Exchange[] | null;
  /** The answer, if it came on another stream than the call's own. */
  resumedAnswer: AnswerPeek | null;
};

/** `time`: Date.now(), which the id tells too. */
export type Begun = { id: string; time: number; isMcp: boolean; via?: string | undefined };

/** The exchange of a request that has just come for a known server. */
export function beginExchange(route: Route, request: IncomingMessage, begun: Begun): Exchange {
  const { id, time, isMcp, via = null } = begun;
  return {
    id,
    route,
    via,
    isMcp,
    isRecorded: false,
    httpMethod: request.method ?? "GET",
    principal: "anonymous",
    peek: peekHeaders(hintsOf(request)),
    body: null,
    requestBytes: 0,
    traceparent: headerOf(request, "traceparent"),
    trace: null,
    userAgent: headerOf(request, "user-agent"),
    lastEventId: headerOf(request, "last-event-id"),
    time,
    startedAt: performance.now(),
    endedAt: null,
    deploymentId: deploymentOf(route),
    redactor: null,
    member: null,
    instanceId: null,
    heldMs: 0,
    sentAt: null,
    startAttempt: null,
    session: null,
    client: undefined,
    canceled: null,
    onCanceled: null,
    status: 0,
    isStream: true,
    responseBytes: 0,
    answers: null,
    end: null,
    refusal: null,
    resumes: null,
    resumedAnswer: null,
  };
}

/** Adds a request's body, and what it says. */
export function addBody(exchange: Exchange, body: Buffer, request: IncomingMessage): void {
  exchange.body = body;
  exchange.requestBytes = body.length;
  exchange.peek = peekRequest(body, hintsOf(request));
}

function hintsOf(request: IncomingMessage): PeekHints {
  return {
    protocolVersion: headerOf(request, "mcp-protocol-version"),
    method: headerOf(request, "mcp-method"),
    name: headerOf(request, "mcp-name"),
  };
}

/**
 * A reader of the answers in a response; null for one that can't be read: only uncompressed JSON and event streams that
 * answer requests, or bring the rest of an earlier answer, are.
 */
export function answersOf(
  exchange: Exchange,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ResponsePeek | null {
  const own = exchange.peek.messages.filter((message) => message.kind === "request");
  const requests = exchange.resumes ? exchange.resumes.map((call) => call.peek) : own;
  const type = headers["content-type"];
  if (
    (requests.length === 0 && !exchange.resumes) ||
    typeof type !== "string" ||
    headers["content-encoding"] !== undefined
  )
    return null;
  const format = type.startsWith("text/event-stream") ? "sse" : type.startsWith("application/json") ? "json" : null;
  if (format === null) return null;
  const ids = requests.map((message) => message.id);
  return new ResponsePeek({
    // An id beyond the part that was looked at is not known: then any answer is the one.
    ids: ids.length === 0 || ids.some((id) => id === null) ? null : ids.filter((id) => id !== null),
    format,
    captureBytes: exchange.route.capturePayloads ? captureBytes : 0,
  });
}
