import { text as readText } from "node:stream/consumers";
import type { AdmittedRequest } from "../forward/admitted-request.ts";
import { sessionIdHeader } from "../forward/headers.ts";
import type { Exchange } from "../record/exchange.ts";
import { traceparentOf } from "../tracing/trace-context.ts";
import { askMember, type HandleKnown, type Known, originOf } from "./member-exchange.ts";
import type { MemberSession, OpenedSession, Teller } from "./member-sessions.ts";
import { type Message, messagesIn } from "./messages-in.ts";

/** The server would not open a session; the message says why. */
export class MemberRefused extends Error {}

const lastLegacy = "2025-11-25";

/**
 * Opens a session at a server of a portal as the client would have: with what it said when it opened its own at the portal.
 * For a client of 2026-07-28, which has none, with its name only.
 *
 * @throws MemberRefused
 */
export async function openSession(
  handle: HandleKnown,
  admitted: AdmittedRequest,
  known: Known,
): Promise<OpenedSession> {
  const { request, session: own, exchange } = admitted;
  const { clientName, clientVersion } = exchange.peek;
  const clientInfo = { name: clientName ?? "towpath-portal", version: clientVersion ?? "1" };
  const opening = own?.session.opening ?? null;
  const params: unknown = opening ? JSON.parse(opening) : { protocolVersion: lastLegacy, capabilities: {}, clientInfo };
  // Not the request itself: it is large, and a session may last for hours.
  const [origin, headers] = [originOf(request), headersOf(request)];
  const send = (message: Message | null, session: MemberSession | null, caller: Exchange | null = null) => {
    const body = Buffer.from(message === null ? "" : JSON.stringify({ jsonrpc: "2.0", ...message }));
    const all = [...headers, ...(session === null ? [] : ofSession(session))];
    const method = message === null ? "DELETE" : "POST";
    return askMember(handle, { known: { ...known, caller }, message: { method, headers: all, body }, origin });
  };
  const answer = await send({ id: 0, method: "initialize", params }, null, exchange);
  const opened = messagesIn(await readText(answer.body)).find((message) => message.id === 0);
  const result = opened?.result as { protocolVersion?: unknown } | undefined;
  if (typeof result?.protocolVersion !== "string") {
    const error = opened?.error as { message?: string } | undefined;
    throw new MemberRefused(error?.message ?? `it refused the session (HTTP ${answer.status}).`);
  }
  const session = { id: answer.headers[sessionIdHeader] ?? null, protocolVersion: result.protocolVersion };
  let last: Promise<unknown> = Promise.resolve();
  const tell: Teller = (told) => {
    // A server without sessions has nothing to end.
    if (told === "end" && session.id === null) return;
    last = last
      .then(() => send(told === "end" ? null : told, session))
      .then(({ body }) => body.resume())
      .catch(() => {});
  };
  tell({ method: "notifications/initialized" });
  await last;
  return { session, tell };
}

function headersOf({ headers }: AdmittedRequest["request"]): string[] {
  const agent = headers["user-agent"];
  return [
    ...["content-type", "application/json", "accept", "application/json, text/event-stream"],
    ...(agent === undefined ? [] : ["user-agent", agent]),
  ];
}

const ofSession = ({ id, protocolVersion }: MemberSession) => [
  ...["mcp-protocol-version", protocolVersion],
  ...(id === null ? [] : [sessionIdHeader, id]),
];

/** The headers of a client's request within a session at a server. */
export function sessionHeaders(admitted: AdmittedRequest, session: MemberSession): string[] {
  return [...headersOf(admitted.request), ...ofSession(session), ...traceHeader(admitted)];
}

/** A request to a server belongs to the trace of the request to the portal. */
export function traceHeader({ exchange }: AdmittedRequest): string[] {
  const traceparent = exchange.trace ? traceparentOf(exchange.trace) : exchange.traceparent;
  return traceparent === undefined ? [] : ["traceparent", traceparent];
}
