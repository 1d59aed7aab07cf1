import { text as readText } from "node:stream/consumers";
import type { Call } from "./call-member.ts";
import type { Known, MemberAnswer } from "./member-exchange.ts";
import type { MemberSession } from "./member-sessions.ts";
import { eventsIn, type Message, messagesIn } from "./messages-in.ts";
import { eventStream, type OpenAnswer, openAnswer, reply } from "./reply.ts";

/** An answer of a server that has begun. `session`: in which it was asked; null: in 2026-07-28. */
export type Reached = {
  readonly known: Known;
  readonly id: string | number;
  readonly session: MemberSession | null;
  readonly answer: MemberAnswer;
};

/** Marks ids of requests that servers make of a client, which answers them to the portal. */
export const requestPrefix = "towpath:";

/** Passes a server's answer to the client as it comes: unread where client and server speak the same era. */
export async function passOn(call: Call, reached: Reached): Promise<void> {
  const { answer, session } = reached;
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") ?? false;
  if (answer.status >= 400) return passRefusal(call, reached);
  if (isStream) return session === null ? passUnread(call, answer, eventStream) : passEvents(call, reached);
  if ((session === null) === call.isModern) return passUnread(call, answer, json);
  const message = messagesIn(await readText(answer.body)).find(({ id }) => id === reached.id);
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

async function passEvents(call: Call, { answer, session, known }: Reached): Promise<void> {
  const open = openAnswer(call.admitted, call.parts.recorder, eventStream);
  for await (const event of eventsIn(answer.body)) {
    // Comments keep the connection open.
    if (event.startsWith(":")) await open.write(`${event}\n\n`);
    for (const message of messagesIn(event)) await passMessage(call, open, { message, session, known });
  }
  open.end();
}

type OnStream = { message: Message; session: MemberSession | null; known: Known };

async function passMessage(call: Call, open: OpenAnswer, { message, session, known }: OnStream): Promise<void> {
  if (message.method === undefined) return open.send(call.isModern ? asModern(message) : message);
  if (message.id === undefined) return open.send(message);
  // Only a client of a session can be asked: in 2026-07-28, servers ask by their results.
  if (call.isModern) return;
  const token = { projectId: known.route.projectId, session, id: message.id };
  const id = `${requestPrefix}${Buffer.from(JSON.stringify(token)).toString("base64url")}`;
  return open.send({ ...message, id });
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
