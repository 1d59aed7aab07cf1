import { text as readText } from "node:stream/consumers";
import { traceparentOf } from "@towpath/telemetry";
import { z } from "zod";
import type { Answer } from "../call/answer.ts";
import type { Admitted, RequestHead } from "../call/states.ts";
import { sessionIdHeader } from "../forward/headers.ts";
import { askMember, type CallServer, type Member } from "./ask-member.ts";
import type { MemberSession, OpenedMemberSession, SendInSession } from "./member-sessions.ts";
import { type Message, messagesIn } from "./messages-in.ts";

/** The server refused to open a session; the message says why. */
export class MemberRefused extends Error {}

const lastLegacy = "2025-11-25";

const openedSchema = z.object({ result: z.object({ protocolVersion: z.string() }) });
const refusedSchema = z.object({ error: z.object({ message: z.string() }) });

/**
 * Opens a session at a server of a portal as the client would: with the parameters of its own session at the portal.
 * For a client of 2026-07-28, which has no session, with its name only.
 *
 * @throws MemberRefused
 */
export async function openSession(
  callServer: CallServer,
  { call, session: own, peek, received }: Admitted,
  member: Member,
): Promise<OpenedMemberSession> {
  const { clientName, clientVersion } = peek;
  const clientInfo = { name: clientName ?? "towpath-portal", version: clientVersion ?? "1" };
  const opening = own?.session.opening ?? null;
  const params: unknown = opening ? JSON.parse(opening) : { protocolVersion: lastLegacy, capabilities: {}, clientInfo };
  // Not the call itself: it is large, and a session may last for hours.
  const [address, headers] = [call.address, headersOf(call.request)];
  const send = (message: Message | null, session: MemberSession | null, answer: Answer | null = null) => {
    const body = Buffer.from(message === null ? "" : JSON.stringify({ jsonrpc: "2.0", ...message }));
    const all = [...headers, ...(session === null ? [] : ofSession(session))];
    const method = message === null ? "DELETE" : "POST";
    return askMember(callServer, { member, message: { method, headers: all, body }, address, answer });
  };
  const answer = await send({ id: 0, method: "initialize", params }, null, received.answer);
  const found = messagesIn(await readText(answer.body)).find((message) => message.id === 0);
  const opened = openedSchema.safeParse(found);
  if (!opened.success) {
    const refused = refusedSchema.safeParse(found).data;
    throw new MemberRefused(refused?.error.message ?? `it refused the session (HTTP ${answer.status}).`);
  }
  const session = { id: answer.headers[sessionIdHeader] ?? null, ...opened.data.result };
  let last: Promise<unknown> = Promise.resolve();
  const sendLater: SendInSession = (sent) => {
    // A server without sessions has nothing to end.
    if (sent === "end" && session.id === null) return last;
    last = last
      .then(() => send(sent === "end" ? null : sent, session))
      .then(({ body }) => body.resume())
      .catch(() => {});
    return last;
  };
  await sendLater({ method: "notifications/initialized" });
  return { session, send: sendLater };
}

function headersOf({ headers }: RequestHead): string[] {
  const agent = headers["user-agent"];
  return [
    "content-type",
    "application/json",
    "accept",
    "application/json, text/event-stream",
    ...(agent === undefined ? [] : ["user-agent", agent]),
  ];
}

const ofSession = ({ id, protocolVersion }: MemberSession) => [
  "mcp-protocol-version",
  protocolVersion,
  ...(id === null ? [] : [sessionIdHeader, id]),
];

/** The headers of a client's request within a session at a server. */
export function sessionHeaders(admitted: Admitted, session: MemberSession): string[] {
  return [...headersOf(admitted.call.request), ...ofSession(session), ...traceHeader(admitted)];
}

/** A request to a server belongs to the trace of the request to the portal. */
export function traceHeader({ received }: Admitted): string[] {
  const traceparent = received.trace ? traceparentOf(received.trace) : received.traceparent;
  return traceparent === undefined ? [] : ["traceparent", traceparent];
}
