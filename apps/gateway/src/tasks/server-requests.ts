import { dataOf, type Message, parsedMessage } from "../portal/messages-in.ts";
import { membersOf } from "../portal/portal-request.ts";

/** Of an event that is still to end. */
const maxPending = 1024 * 1024;

const relatedTask = "io.modelcontextprotocol/related-task";

/** A message with the task that it belongs to (2025-11-25). */
export function ofTask(message: Message, key: "params" | "result", taskId: string): Message {
  const members = membersOf(message[key]);
  return { ...message, [key]: { ...members, _meta: { ...membersOf(members._meta), [relatedTask]: { taskId } } } };
}

/** Finds what a legacy server asks of the client of a call, in the pieces of its answer: a stream of events. */
export function createRequestFinder(found: (request: Message) => void): (piece: Buffer) => void {
  const decoder = new TextDecoder();
  let text = "";
  return (piece) => {
    text += decoder.decode(piece, { stream: true });
    const events = text.split(/\r?\n\r?\n/);
    text = events.pop() ?? "";
    if (text.length > maxPending) text = "";
    for (const event of events) {
      if (!event.includes('"method"')) continue;
      const message = parsedMessage(dataOf(event));
      if (message?.method !== undefined && message.id !== undefined) found(message);
    }
  };
}
