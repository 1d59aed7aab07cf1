import type { Outcome, RequestLogRow } from "@towpath/logs";
import type { AnswerPeek, MessagePeek, RequestPeek } from "@towpath/mcp/peek";
import type { Redactor } from "@towpath/secrets/redaction";
import { quotedName } from "../wire/quoted-name.ts";
import type { Exchange } from "./exchange.ts";
import { captureOf, redactedText, withheld } from "./redact.ts";
import { newRequestId } from "./request-id.ts";

/** The rows of an exchange that has ended: one per JSON-RPC message of the client, one when there was none. */
export function rowsOf(exchange: Exchange): RequestLogRow[] {
  exchange.answers?.end({ isWhole: exchange.end === "complete" });
  const durationMs = (exchange.endedAt ?? performance.now()) - exchange.startedAt;
  const { messages } = exchange.peek;
  if (messages.length <= 1) return [rowOf(exchange, durationMs, messages[0] ?? exchange.peek)];
  return messages.map((message) => rowOf(exchange, durationMs, message));
}

function rowOf(exchange: Exchange, durationMs: number, message: MessagePeek | RequestPeek): RequestLogRow {
  const { route, peek, refusal } = exchange;
  const client = clientOf(exchange);
  const answer = message.kind === "request" ? answerTo(exchange, message.id) : unclaimedAnswer(exchange);
  const outcome = outcomeOf(exchange, message, answer);
  const error = errorOf(exchange, { message, outcome, answer });
  const payloads = payloadsOf(exchange, message, answer);
  return {
    // Further messages of a batch name the request that brought them.
    id: isFirst(exchange, message) ? exchange.id : newRequestId(exchange.time),
    requestId: isFirst(exchange, message) ? null : exchange.id,
    time: exchange.time,
    organizationId: route.organizationId,
    projectId: route.projectId,
    deploymentId: exchange.deploymentId,
    instanceId: exchange.instanceId,
    kind: message.kind,
    httpMethod: exchange.httpMethod,
    method: message.method,
    target: targetOf(exchange, message, outcome),
    // 499: nginx's status for a client that disconnected before the answer.
    httpStatus: exchange.status === 0 ? 499 : exchange.status,
    isError: isErrorOutcome(exchange, outcome),
    errorCode: error.code,
    errorMessage: error.message,
    refusal: refusal?.code ?? null,
    outcome,
    durationMs: rounded(durationMs),
    heldMs: rounded(exchange.heldMs),
    serverMs: serverMsOf(exchange),
    startAttempt: exchange.startAttempt,
    requestBytes: exchange.requestBytes,
    responseBytes: exchange.responseBytes,
    protocolVersion: answer?.protocolVersion ?? peek.protocolVersion ?? exchange.client?.protocolVersion ?? null,
    clientName: exchange.via === null ? client.name : `${client.name ?? "unknown"} via ${exchange.via}`,
    clientVersion: client.version,
    session: exchange.session,
    principal: exchange.principal,
    traceId: exchange.trace?.traceId ?? traceIdOf(exchange.traceparent),
    requestPayload: payloads.request,
    responsePayload: payloads.response,
    requestTruncated: payloads.isRequestTruncated,
    responseTruncated: payloads.isResponseTruncated,
  };
}

/** A portal has no variables; what its servers say may hold theirs. */
const redactorOf = ({ redactor, member }: Exchange) => (member === null ? redactor : member.redactor);

const noPayloads = { request: null, response: null, isRequestTruncated: null, isResponseTruncated: null };

function payloadsOf(exchange: Exchange, message: MessagePeek | RequestPeek, answer: AnswerPeek | undefined) {
  if (!exchange.route.capturePayloads) return noPayloads;
  // The body of a batch belongs to all of its messages: it is kept with the first.
  const redactor = redactorOf(exchange);
  const request = captureOf(isFirst(exchange, message) ? exchange.body : null, exchange.requestBytes, redactor);
  const response = captureOf(answer?.payload ?? null, answer?.payloadBytes ?? 0, redactor);
  return {
    request: request.payload,
    response: response.payload,
    isRequestTruncated: request.isTruncated || null,
    isResponseTruncated: response.isTruncated || null,
  };
}

/**
 * Servers make up the URIs of resources, from their variables too, and clients make up any name. While the variables are
 * not known, the name of a tool or prompt is kept only if the server has it: then it is in its code.
 */
function targetOf(exchange: Exchange, { method, target }: MessagePeek | RequestPeek, outcome: Outcome): string | null {
  const redactor = redactorOf(exchange);
  const isOfServer = !method?.startsWith("resources/") && (outcome === "ok" || outcome === "input_required");
  return redactor === null && isOfServer ? target : redactedText(target, redactor);
}

/** Milliseconds from sending the request until the end of its answer; null when it was not sent. */
function serverMsOf({ sentAt, endedAt, end }: Exchange): number | null {
  if (sentAt === null || end === "dial-failed" || end === "backlog-full") return null;
  return rounded((endedAt ?? performance.now()) - sentAt);
}

/** To the microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function isFirst({ peek }: Exchange, message: MessagePeek | RequestPeek): boolean {
  return peek.messages.length === 0 || peek.messages[0] === message;
}

/**
 * The answer in a resumed stream to a call that is not known here: another gateway, or this one before its restart,
 * forwarded it. Its failure must not be lost, so the row of the resuming request reports it.
 */
function unclaimedAnswer({ resumes, answers }: Exchange): AnswerPeek | undefined {
  if (resumes === null || resumes.length > 0) return undefined;
  const brought = answers?.answers ?? [];
  return brought.find((answer) => answer.errorCode !== null || answer.isError) ?? brought[0];
}

function answerTo(exchange: Exchange, id: string | number | null): AnswerPeek | undefined {
  if (exchange.resumedAnswer) return exchange.resumedAnswer;
  const answers = exchange.answers?.answers ?? [];
  if (exchange.peek.kind !== "batch") return answers[0];
  return answers.find((answer) => answer.id === id) ?? answers.find((answer) => answer.id === null);
}

type Client = { name: string | null; version: string | null };

/** The client as named by the message, else by the session's `initialize`, else by the User-Agent. */
function clientOf({ peek, client, userAgent }: Exchange): Client {
  if (peek.clientName !== null) return { name: peek.clientName, version: peek.clientVersion };
  if (client && client.clientName !== null) return { name: client.clientName, version: client.clientVersion };
  // The first product says most: `name/version (comment) …` (RFC 9110 §10.1.5).
  const [, name = null, version = null] = /^([^\s/()]+)(?:\/([^\s()]+))?/.exec(userAgent ?? "") ?? [];
  return { name, version };
}

type Answered = {
  readonly message: MessagePeek | RequestPeek;
  readonly outcome: Outcome;
  readonly answer: AnswerPeek | undefined;
};

function errorOf(exchange: Exchange, { message, outcome, answer }: Answered) {
  const { refusal } = exchange;
  const redactor = redactorOf(exchange);
  if (refusal) return { code: refusal.rpcCode, message: refusalText(refusal.message, message.target, redactor) };
  // Some servers answer a canceled request with an error; the call ended as its client wanted.
  if (outcome === "canceled") return { code: null, message: null };
  const text = redactedText(answer?.errorMessage ?? null, redactor);
  return { code: answer?.errorCode ?? null, message: outcome === "tool_error" ? beginningOf(text) : text };
}

/** Refusals are our own words, but may quote what the client named. */
function refusalText(text: string, target: string | null, redactor: Redactor | null): string {
  if (redactor !== null) return redactor.text(text);
  return target === null || target === "" ? text : text.replaceAll(quotedName(target), withheld);
}

/** Of what a tool returned, as payloads are kept only where the project switched that on. */
const toolErrorLength = 300;

const beginningOf = (text: string | null) =>
  text === null || text.length <= toolErrorLength ? text : `${text.slice(0, toolErrorLength - 1)}…`;

function outcomeOf(exchange: Exchange, message: MessagePeek | RequestPeek, answer: AnswerPeek | undefined): Outcome {
  if (exchange.refusal) return "gateway_error";
  // A client that disconnects after its answer has what it wanted.
  if (answer && answer.errorCode === null) {
    if (answer.isError) return "tool_error";
    return answer.resultType === "input_required" ? "input_required" : "ok";
  }
  if (isCanceled(exchange, message, answer)) return "canceled";
  if (answer) return "rpc_error";
  if (exchange.end === "client-closed") return "closed_by_client";
  if (exchange.end === "server-closed") return "closed_by_server";
  if (exchange.status >= 400) return "http_error";
  // A stream that ended regularly, but without its answer.
  return message.kind === "request" && exchange.answers ? "closed_by_server" : "ok";
}

/** Legacy clients cancel by a message, modern ones by closing the stream; a subscription is closed, not canceled. */
function isCanceled(exchange: Exchange, message: MessagePeek | RequestPeek, answer: AnswerPeek | undefined): boolean {
  if (message.kind !== "request") return false;
  if (exchange.peek.era === "legacy") return message.id !== null && exchange.canceled?.has(message.id) === true;
  return !answer && exchange.end === "client-closed" && message.method !== "subscriptions/listen";
}

function isErrorOutcome(exchange: Exchange, outcome: Outcome): boolean {
  switch (outcome) {
    case "ok":
    case "input_required":
    case "canceled":
    case "closed_by_client":
      return false;
    case "closed_by_server":
      // With event ids the client may pick the stream up again (2025-11-25: the server may close at will).
      return exchange.answers ? !exchange.answers.resumable : exchange.end === "server-closed";
    default:
      return true;
  }
}

function traceIdOf(traceparent: string | undefined): string | null {
  return traceparent === undefined ? null : (/^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent)?.[1] ?? null);
}
