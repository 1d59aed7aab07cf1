import { checkCaller } from "@towpath/auth/credentials";
import type { Outcome, RequestLogRow } from "@towpath/logs";
import { type AnswerPeek, type MessagePeek, peekHeaders, type RequestPeek } from "@towpath/mcp/peek";
import type { Redactor } from "@towpath/secrets/redaction";
import type { Answer } from "../call/answer.ts";
import { deploymentFor, type Logged } from "../call/states.ts";
import { anonymous } from "../policy/credentials.ts";
import type { Session } from "../policy/sessions.ts";
import { isLikeTaskId } from "../tasks/task-ids.ts";
import { quotedName } from "../wire/quoted-name.ts";
import { captureOf, redactedText, withheld } from "./redact.ts";
import { newRequestId } from "./request-id.ts";

/** The rows of a call that has ended: one per JSON-RPC message of the client, or one if there was none. */
export function rowsOf(call: Logged): RequestLogRow[] {
  const { answer, startedAt } = call.received;
  answer.peek?.end({ isWhole: answer.end === "complete" });
  const durationMs = (answer.endedAt ?? performance.now()) - startedAt;
  const peek = peekOf(call);
  if (peek.messages.length <= 1) return [rowOf(call, durationMs, peek.messages[0] ?? peek)];
  return peek.messages.map((message) => rowOf(call, durationMs, message));
}

/** What the body says once it was read, else what the headers say. */
export const peekOf = ({ peek, received }: Logged): RequestPeek => peek ?? peekHeaders(received.hints);

function rowOf(call: Logged, durationMs: number, message: MessagePeek | RequestPeek): RequestLogRow {
  const { id, time, route, via, answer, method, trace, traceparent } = call.received;
  const { instanceId, heldMs, startAttempt } = answer.delivery;
  const inSession = answer.opened ?? call.session ?? null;
  const client = withoutValues(clientOf(call, inSession?.session), answer.redactor);
  const found = message.kind === "request" ? answerTo(call, message.id) : unclaimedAnswer(call);
  const outcome = outcomeOf(call, message, found);
  const error = errorOf(answer, { message, outcome, found });
  const payloads = payloadsOf(call, message, found);
  return {
    // Further messages of a batch name the request that contained them.
    id: isFirst(call, message) ? id : newRequestId(time),
    requestId: isFirst(call, message) ? null : id,
    time,
    organizationId: route.organizationId,
    projectId: route.projectId,
    deploymentId: deploymentFor(call),
    instanceId,
    kind: message.kind,
    httpMethod: method,
    method: message.method,
    target: targetOf(answer, message, outcome),
    // 499: nginx's status for a client that disconnected before the answer.
    httpStatus: answer.status === 0 ? 499 : answer.status,
    // Replayed calls are no failure of anybody's call: no error, alert or gradual release counts them.
    isError: call.principal?.id !== checkCaller && isErrorOutcome(answer, outcome),
    errorCode: error.code,
    errorMessage: error.message,
    refusal: answer.refusal?.code ?? null,
    outcome,
    durationMs: rounded(durationMs),
    heldMs: rounded(heldMs),
    serverMs: serverMsOf(answer),
    startAttempt,
    requestBytes: call.bodyBytes ?? 0,
    responseBytes: answer.bytes,
    protocolVersion:
      found?.protocolVersion ?? peekOf(call).protocolVersion ?? inSession?.session.protocolVersion ?? null,
    clientName: via === null ? client.name : `${client.name ?? "unknown"} via ${via}`,
    clientVersion: client.version,
    session: inSession?.key ?? null,
    principal: call.principal?.id ?? anonymous.id,
    traceId: trace?.traceId ?? traceIdOf(traceparent),
    requestPayload: payloads.request,
    responsePayload: payloads.response,
    requestTruncated: payloads.isRequestTruncated,
    responseTruncated: payloads.isResponseTruncated,
  };
}

const noPayloads = { request: null, response: null, isRequestTruncated: null, isResponseTruncated: null };

function payloadsOf(call: Logged, message: MessagePeek | RequestPeek, found: AnswerPeek | undefined) {
  const { route, answer } = call.received;
  if (!route.capturePayloads) return noPayloads;
  const { redactor } = answer;
  // The body of a batch belongs to all of its messages: it is kept with the first.
  const request = captureOf(isFirst(call, message) ? (call.body ?? null) : null, call.bodyBytes ?? 0, redactor);
  const response = captureOf(found?.payload ?? null, found?.payloadBytes ?? 0, redactor);
  return {
    request: request.payload,
    response: response.payload,
    isRequestTruncated: request.isTruncated || null,
    isResponseTruncated: response.isTruncated || null,
  };
}

/**
 * Servers form URIs of resources, also from their variables, and clients may send any name. While the variables are
 * unknown, the name of a tool or prompt is kept only if the server has it: then it comes from its code.
 */
function targetOf({ redactor }: Answer, { method, target }: MessagePeek | RequestPeek, outcome: Outcome) {
  // Whoever reads the log must not get the result of a task.
  if (target !== null && method?.startsWith("tasks/") && isLikeTaskId(target)) return null;
  const isOfServer = !method?.startsWith("resources/") && (outcome === "ok" || outcome === "input_required");
  return redactor === null && isOfServer ? target : redactedText(target, redactor);
}

/** Milliseconds from sending the request until the end of its answer; null if it was not sent. */
function serverMsOf({ delivery: { sentAt }, endedAt, end }: Answer): number | null {
  if (sentAt === null || end === "dial-failed" || end === "backlog-full") return null;
  return rounded((endedAt ?? performance.now()) - sentAt);
}

/** To the microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

function isFirst(call: Logged, message: MessagePeek | RequestPeek): boolean {
  const { messages } = peekOf(call);
  return messages.length === 0 || messages[0] === message;
}

/**
 * The answer in a resumed stream to a call that is unknown here: another gateway, or this one before its restart,
 * forwarded it. The row of the resuming request reports its failure, which must not be lost.
 */
function unclaimedAnswer({ session, received }: Logged): AnswerPeek | undefined {
  if (session?.resumes?.length !== 0) return undefined;
  const brought = received.answer.peek?.answers ?? [];
  return brought.find((answer) => answer.errorCode !== null || answer.isError) ?? brought[0];
}

function answerTo(call: Logged, id: string | number | null): AnswerPeek | undefined {
  if (call.session?.resumedAnswer) return call.session.resumedAnswer;
  const answers = call.received.answer.peek?.answers ?? [];
  if (peekOf(call).kind !== "batch") return answers[0];
  return answers.find((answer) => answer.id === id) ?? answers.find((answer) => answer.id === null);
}

type Client = { name: string | null; version: string | null };

/** The client as named by the message, else by the session's `initialize`, else by the User-Agent. */
function clientOf(call: Logged, client: Session | undefined): Client {
  const peek = peekOf(call);
  if (peek.clientName !== null) return { name: peek.clientName, version: peek.clientVersion };
  if (client && client.clientName !== null) return { name: client.clientName, version: client.clientVersion };
  // The first product is the most specific: `name/version (comment) …` (RFC 9110 §10.1.5).
  const [, name = null, version = null] = /^([^\s/()]+)(?:\/([^\s()]+))?/.exec(call.received.userAgent ?? "") ?? [];
  return { name, version };
}

/** A client may name itself by anything. Its name is kept while the variables are unknown: the server has no part in it. */
const withoutValues = ({ name, version }: Client, redactor: Redactor | null): Client => ({
  name: name && (redactor?.text(name) ?? name),
  version: version && (redactor?.text(version) ?? version),
});

type Answered = {
  readonly message: MessagePeek | RequestPeek;
  readonly outcome: Outcome;
  readonly found: AnswerPeek | undefined;
};

function errorOf({ refusal, redactor }: Answer, { message, outcome, found }: Answered) {
  if (refusal) return { code: refusal.rpcCode, message: refusalText(refusal.message, message.target, redactor) };
  // Some servers answer a canceled request with an error; the call ended as its client asked for.
  if (outcome === "canceled") return { code: null, message: null };
  const text = redactedText(found?.errorMessage ?? null, redactor);
  return { code: found?.errorCode ?? null, message: outcome === "tool_error" ? beginningOf(text) : text };
}

/** A refusal is our own text, but may quote what the client named. */
function refusalText(text: string, target: string | null, redactor: Redactor | null): string {
  if (redactor !== null) return redactor.text(text);
  return target === null || target === "" ? text : text.replaceAll(quotedName(target), withheld);
}

/** Of a tool's result, because payloads are kept only where the project enabled that. */
const toolErrorLength = 300;

const beginningOf = (text: string | null) =>
  text === null || text.length <= toolErrorLength ? text : `${text.slice(0, toolErrorLength - 1)}…`;

function outcomeOf(call: Logged, message: MessagePeek | RequestPeek, found: AnswerPeek | undefined): Outcome {
  const { refusal, end, status, peek } = call.received.answer;
  if (refusal) return "gateway_error";
  // A client that disconnects after its answer has received it.
  if (found && found.errorCode === null) {
    if (found.isError) return "tool_error";
    return found.resultType === "input_required" ? "input_required" : "ok";
  }
  if (isCanceled(call, message, found)) return "canceled";
  if (found) return "rpc_error";
  if (end === "client-closed") return "closed_by_client";
  if (end === "server-closed") return "closed_by_server";
  if (status >= 400) return "http_error";
  // A stream that ended normally, but without its answer.
  return message.kind === "request" && peek ? "closed_by_server" : "ok";
}

/** Legacy clients cancel by a message, modern ones by closing the stream; a subscription is closed, not canceled. */
function isCanceled(call: Logged, message: MessagePeek | RequestPeek, found: AnswerPeek | undefined): boolean {
  if (message.kind !== "request") return false;
  if (peekOf(call).era === "legacy") return message.id !== null && call.session?.canceled?.has(message.id) === true;
  return !found && call.received.answer.end === "client-closed" && message.method !== "subscriptions/listen";
}

function isErrorOutcome({ peek, end }: Answer, outcome: Outcome): boolean {
  switch (outcome) {
    case "ok":
    case "input_required":
    case "canceled":
    case "closed_by_client":
      return false;
    case "closed_by_server":
      // With event ids the client may resume the stream (2025-11-25: the server may close at will).
      return peek ? !peek.resumable : end === "server-closed";
    default:
      return true;
  }
}

function traceIdOf(traceparent: string | undefined): string | null {
  return traceparent === undefined ? null : (/^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent)?.[1] ?? null);
}
