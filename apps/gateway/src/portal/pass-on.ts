import { text as readText } from "node:stream/consumers";
import { z } from "zod";
import type { Rest } from "../call/answer.ts";
import { openAnswer } from "../call/reply.ts";
import type { Member, MemberAnswer } from "./ask-member.ts";
import type { PortalCall } from "./call-member.ts";
import type { MemberSession } from "./member-sessions.ts";
import { dataOf, eventsIn, type Message, messagesIn, parsedMessage } from "./messages-in.ts";
import { membersOf } from "./portal-request.ts";
import { eventStream, json, replyWith } from "./reply.ts";
import { withTaskId } from "./tasks.ts";

/** A server's answer that has begun. `session`: that of the request; null: the request was of 2026-07-28. */
export type Reached = {
  readonly member: Member;
  readonly id: string | number;
  readonly session: MemberSession | null;
  /** The client's id for a task of the server; null: the answer names no task. */
  readonly idOfTask: ((taskId: string) => string) | null;
  readonly answer: MemberAnswer;
};

/** Forwards a server's answer to the client as it arrives: unread if nothing in it changes. */
export async function passOn(call: PortalCall, reached: Reached): Promise<Rest> {
  const { answer, session, idOfTask, member, id } = reached;
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") ?? false;
  if (answer.status >= 400) return passRefusal(call, reached);
  if (session === null && idOfTask === null) return passUnread(call, answer, isStream ? eventStream : json);
  if (isStream) return passEvents(call, reached);
  if (!call.isModern) return passUnread(call, answer, json);
  const text = await readText(answer.body);
  if (idOfTask !== null) return replyWith(call.admitted, { status: 200 }, withTaskId(text, idOfTask) ?? text);
  const message = messagesIn(text).find((each) => each.id === id);
  return answerWith(call, message ? asModern(message) : failed(member, id, "it gave no answer."));
}

type Kind = typeof json | typeof eventStream;

const openFor = ({ parts, admitted }: PortalCall, kind: Kind) =>
  openAnswer(parts, admitted, { ...kind, sessionId: admitted.session?.id ?? null });

async function passUnread(call: PortalCall, { body }: MemberAnswer, kind: Kind): Promise<Rest> {
  const open = openFor(call, kind);
  let last: Buffer | undefined;
  for await (const chunk of body) {
    // The last piece of JSON completes the answer for a client, so it waits until the row is on disk.
    if (kind === json && last) await open.write(last);
    if (kind === json) last = chunk;
    else await open.write(chunk);
  }
  return open.end(last);
}

async function passEvents(call: PortalCall, { answer, session, idOfTask, member }: Reached): Promise<Rest> {
  const open = openFor(call, eventStream);
  for await (const event of eventsIn(answer.body)) {
    const text = dataOf(event);
    if (session === null) {
      const message = idOfTask && withTaskId(text, idOfTask);
      await (message ? open.send(message) : open.write(`${event}\n\n`));
      continue;
    }
    // Comments keep the connection open.
    if (text === "" && event.startsWith(":")) await open.write(`${event}\n\n`);
    const message = parsedMessage(text);
    const passed = message && ofSession(call, message, { session, member });
    if (passed) await open.send(passed);
  }
  return open.end();
}

/** A message from a session at a server, for the client; null: the client can't be asked. */
function ofSession(
  call: PortalCall,
  message: Message,
  { session, member }: { session: MemberSession; member: Member },
): Message | null {
  const idOf = (id: unknown) => {
    if (typeof id !== "string" && typeof id !== "number") return null;
    const { projectId } = member.route;
    return call.parts.memberIds.sealRequest({ projectId, session, id }, call.admitted);
  };
  if (message.method === undefined) return call.isModern ? asModern(message) : message;
  if (message.method === "notifications/cancelled") {
    const params = membersOf(message.params);
    return { ...message, params: { ...params, requestId: idOf(params.requestId) } };
  }
  if (message.id === undefined) return message;
  // Only clients with a session can be asked: in 2026-07-28, servers ask by their results.
  const id = call.isModern ? null : idOf(message.id);
  return id === null ? null : { ...message, id };
}

const errorSchema = z.looseObject({ message: z.string() });

/** An HTTP error: the gateway's own refusals name the server. In 2026-07-28, a server's own passes unchanged. */
async function passRefusal(call: PortalCall, { answer, session, member, id }: Reached): Promise<Rest> {
  const text = await readText(answer.body);
  const message = messagesIn(text).find((each) => each.error !== undefined);
  const error = errorSchema.safeParse(message?.error).data;
  if (!message || !error) return answerWith(call, failed(member, id, `it answered with HTTP ${answer.status}.`));
  if (membersOf(error.data).towpath !== undefined) {
    return answerWith(call, { ...message, id, error: { ...error, message: unusable(member, error.message) } });
  }
  if (session === null) return replyWith(call.admitted, { status: answer.status }, text);
  return answerWith(call, { ...message, id });
}

/** A result with the members that 2026-07-28 requires. */
function asModern(message: Message): Message {
  if (typeof message.result !== "object") return message;
  return { ...message, result: { resultType: "complete", ttlMs: 0, cacheScope: "private", ...message.result } };
}

const unusable = ({ route }: Member, reason: string) =>
  `The server ${route.label} of this portal can't be used now: ${reason}`;

export const failed = (member: Member, id: string | number, reason: string): Message => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32050, message: unusable(member, reason) },
});

export const answerWith = ({ admitted }: PortalCall, message: Message): Rest =>
  replyWith(admitted, { status: 200 }, message);
