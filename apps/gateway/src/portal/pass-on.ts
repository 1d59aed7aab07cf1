import { text as readText } from "node:stream/consumers";
import type { Call } from "./call-member.ts";
import type { Known, MemberAnswer } from "./member-exchange.ts";
import type { MemberSession } from "./member-sessions.ts";
import { dataOf, eventsIn, type Message, messagesIn, parsedMessage } from "./messages-in.ts";
import { eventStream, openAnswer, reply } from "./reply.ts";
import { withTaskId } from "./tasks.ts";

/** An answer of a server that has begun. `session`: in which it was asked; null: in 2026-07-28. */
export type Reached = {
  readonly known: Known;
  readonly id: string | number;
  readonly session: MemberSession | null;
  /** The client's id for a task of the server; null: the answer names no task. */
  readonly idOfTask: ((taskId: string) => string) | null;
  readonly answer: MemberAnswer;
};

/** Passes a server's answer to the client as it comes: unread where both would say the same. */
export async function passOn(call: Call, reached: Reached): Promise<void> {
  const { answer, session, idOfTask } = reached;
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") ?? false;
  if (answer.status >= 400) return passRefusal(call, reached);
  if (session === null && idOfTask === null) return passUnread(call, answer, isStream ? eventStream : json);
  if (isStream) return passEvents(call, reached);
  if (!call.isModern) return passUnread(call, answer, json);
  const text = await readText(answer.body);
  if (idOfTask !== null) return reply(call.admitted, { status: 200 }, withTaskId(text, idOfTask) ?? text);
  const message = messagesIn(text).find(({ id }) => id === reached.id);
  answerWith(call, message ? asModern(message) : failed(reached.known, reached.id, "it gave no answer."));
}

const json = { status: 200, type: "application/json" } as const;

async function passUnread(call: Call, { body }: MemberAnswer, head: typeof json | typeof eventStream): Promise<void> {
  const open = openAnswer(call.admitted, call.parts.recorder, head);
  let last: Buffer | undefined;
  for await (const chunk of body) {
    // A client has its whole answer with the last piece of JSON, so that one waits until its row is on disk.
    if (head === json && last) await open.write(last);
    if (head === json) last = chunk;
    else await open.write(chunk);
  }
  open.end(last);
}

async function passEvents(call: Call, reached: Reached): Promise<void> {
  const { answer, session, idOfTask, known } = reached;
  const open = openAnswer(call.admitted, call.parts.recorder, eventStream);
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
    const passed = message && ofSession(call, message, { session, known });
    if (passed) await open.send(passed);
  }
  open.end();
}

type Asking = { readonly session: MemberSession; readonly known: Known };

/** A message from a session at a server as the client gets it; null: the client can't be asked. */
function ofSession(call: Call, message: Message, { session, known }: Asking): Message | null {
  const idOf = (id: unknown) => {
    if (typeof id !== "string" && typeof id !== "number") return null;
    const { projectId } = known.route;
    return call.parts.memberIds.sealRequest({ projectId, session, id }, call.admitted);
  };
  if (message.method === undefined) return call.isModern ? asModern(message) : message;
  if (message.method === "notifications/cancelled") {
    const params = message.params as Message | undefined;
    return { ...message, params: { ...params, requestId: idOf(params?.requestId) } };
  }
  if (message.id === undefined) return message;
  // Only a client of a session can be asked: in 2026-07-28, servers ask by their results.
  const id = call.isModern ? null : idOf(message.id);
  return id === null ? null : { ...message, id };
}

/** An HTTP error: a refusal of the gateway's own names the server. A server's own passes as it is in 2026-07-28. */
async function passRefusal(call: Call, { answer, session, known, id }: Reached): Promise<void> {
  const text = await readText(answer.body);
  const message = messagesIn(text).find((each) => each.error !== undefined);
  const error = message?.error as { message: string; data?: { towpath?: unknown } } | undefined;
  if (!message || !error) return answerWith(call, failed(known, id, `it answered with HTTP ${answer.status}.`));
  if (error.data?.towpath !== undefined) {
    return answerWith(call, { ...message, id, error: { ...error, message: unusable(known, error.message) } });
  }
  if (session === null) return reply(call.admitted, { status: answer.status }, text);
  answerWith(call, { ...message, id });
}

/** A result with what 2026-07-28 wants in each. */
function asModern(message: Message): Message {
  if (typeof message.result !== "object") return message;
  return { ...message, result: { resultType: "complete", ttlMs: 0, cacheScope: "private", ...message.result } };
}

const unusable = ({ route }: Known, reason: string) =>
  `The server ${route.label} of this portal can't be used now: ${reason}`;

export const failed = (known: Known, id: string | number, reason: string): Message => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32050, message: unusable(known, reason) },
});

export function answerWith({ admitted }: Call, message: Message): void {
  reply(admitted, { status: 200 }, message);
}
