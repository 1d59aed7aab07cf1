import type { Message } from "../portal/messages-in.ts";
import { ownRequest } from "../tasks/own-request.ts";
import { createRequestFinder } from "../tasks/server-requests.ts";
import type { LiveCall } from "./live-call.ts";

/**
 * From now on answers what a legacy server asks of the client that has left its call, in the pieces of the call's stream:
 * the server would wait in vain. A task keeps its questions instead.
 */
export function answerForAbsent(live: LiveCall): void {
  const { admitted, forward, isTask } = live;
  if (isTask || forward === null || admitted.session === null || admitted.peek.era !== "legacy") return;
  const find = createRequestFinder((request) => {
    const own = ownRequest(admitted, { message: answerTo(request), name: null });
    // A server that is gone has nothing to wait for.
    forward(own).catch(() => {});
  });
  live.passPieces(find);
}

/** The call still has somebody who waits for it, so a server that only looks for that gets its answer. */
const answerTo = ({ id, method }: Message): Message =>
  method === "ping" ? { id, result: {} } : { id, error: { code: -32000, message: absent } };

const absent = "The client has disconnected from this call, which goes on without it: nobody can answer.";
