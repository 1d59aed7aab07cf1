import type { Answer } from "../call/answer.ts";
import { GatewayError } from "../gateway-error.ts";
import { type Message, messagesIn } from "../portal/messages-in.ts";
import { membersOf } from "../portal/portal-request.ts";
import type { Ended, LiveCall } from "./live-call.ts";

/**
 * How a call ended, once it was forwarded or failed. Null: nothing was executed, so the next request may be the first.
 *
 * @param error what forwarding threw
 */
export function endOf(live: LiveCall, error?: unknown): Ended | null {
  const ended = endOfCall(live, error);
  if (!live.isTask || live.task === null) return ended;
  // Its client has an id, so how it ended must be there to be asked for.
  if (ended === null) return { state: "waiting", known: null, message: refusalOf(live, error) };
  const result = membersOf(ended.message?.result);
  if (live.admitted.peek.era !== "modern" || result.resultType !== "input_required") return ended;
  return { ...ended, state: "asking", message: live.task.asking(live.admitted, result) };
}

/** The end of a task that wasn't run, if nothing more is known. */
export const notSent = {
  state: "waiting",
  known: null,
  message: {
    error: {
      code: -32050,
      message: "The call was not sent to its server, so it was not run. To run it, send it again under another key.",
      data: { towpath: "server_unreachable" },
    },
  },
} as const satisfies Ended;

/** Why a task wasn't run: what the server or the gateway answered. */
function refusalOf(live: LiveCall, error: unknown): Message {
  const answered = messagesIn(live.takeBytes()?.toString("utf8") ?? "").find((message) => message.error !== undefined);
  if (answered) return { error: answered.error };
  if (!(error instanceof GatewayError)) return notSent.message;
  return error.rpcAnswer ?? { error: { code: error.rpcCode, message: error.message, data: { towpath: error.code } } };
}

function endOfCall(live: LiveCall, error?: unknown): Ended | null {
  const { peek, received, call } = live.admitted;
  const { answer } = received;
  if (live.isCanceled) return { state: "canceled", known: null, message: null };
  // A portal answers what its server didn't.
  const ofServer = call.route.target.kind === "portal" ? answer.passedOn : answer;
  if (ofServer === null || ofServer.delivery.sentAt === null || isUnsent(ofServer)) return null;
  if (error !== undefined) return unknown(error instanceof GatewayError ? error.message : "The gateway failed.");
  if (ofServer !== answer && ofServer.refusal !== null) return unknown(ofServer.refusal.message);
  // The server has refused it, such as for a session that has ended.
  if (ofServer.status >= 400 && ofServer.status < 500) return null;
  if (answer.end === "complete" || live.isFollowed) {
    if (ofServer.end !== "complete" && !live.isFollowed)
      return unknown("The server's connection broke during its answer.");
    const bytes = live.takeBytes();
    if (bytes === null)
      return {
        state: "dropped",
        known: "Its answer was larger than 4 MiB, or the gateway held too many.",
        message: null,
      };
    const found = messagesIn(bytes.toString("utf8")).find((message) => isAnswer(message, peek.id));
    if (found) return { state: "waiting", known: null, message: withoutId(found) };
    if (live.cutReason !== null) return unknown(live.cutReason);
    if (live.isFollowed)
      return unknown("Its server ended the stream early, and didn't let it be resumed to the result.");
    // The client resumes the stream, which it had until now.
    if (answer.peek?.resumable && live.identity.kind === "repeat" && !live.isUnattended) return null;
    if (answer.peek?.resumable) return unknown("Its server ended the stream early, for the client to resume it.");
    return unknown(`The server answered with status ${answer.status} and without a result.`);
  }
  if (live.cutReason !== null) return unknown(live.cutReason);
  if (answer.end === "client-closed") return unknown("Its client left, and the call was not continued.");
  return unknown("The server's connection broke during its answer.");
}

const isUnsent = ({ end }: Answer): boolean => end === "dial-failed" || end === "backlog-full" || end === "left-out";

const unknown = (known: string): Ended => ({ state: "unknown", known, message: null });

/** `id`: null: it lies beyond the inspected part, so any answer counts. */
export const isAnswer = (message: Message, id: string | number | null): boolean =>
  ("result" in message || "error" in message) && !("method" in message) && (id === null || message.id === id);

function withoutId({ result, error }: Message): Message {
  return error === undefined ? { result } : { error };
}
