import { setTimeout as sleep } from "node:timers/promises";
import type { Rest } from "../call/answer.ts";
import { type OpenAnswer, openAnswer, reply } from "../call/reply.ts";
import type { Admitted } from "../call/states.ts";
import { headerOf } from "../forward/headers.ts";
import { GatewayError, type GatewayErrorCode } from "../gateway-error.ts";
import type { StoredCall } from "../read-model/kept-calls.ts";
import type { ObserverParts } from "../record/observe.ts";
import type { Ended } from "./live-call.ts";

/** After this long the client gets the head of its answer, and a comment every so often, so that nothing times out. */
const quietMs = 1000;
const commentMs = 15_000;

/** What the repeat of a call gets. */
export type Repeated = {
  readonly id: string;
  readonly startedAt: Date;
  readonly expiresAt: Date | null;
  readonly ended: Ended;
};

/** Answers a repeat once `repeated` resolves, meanwhile by an event stream where the client accepts one. */
export async function answerRepeat(
  parts: ObserverParts,
  admitted: Admitted,
  repeated: Promise<Repeated>,
): Promise<Rest> {
  const { response, request } = admitted.call;
  const found = repeated.then(outcomeOf, (error: unknown) => {
    if (error instanceof GatewayError) return error;
    throw error;
  });
  const closed = new Promise<"closed">((resolve) => response.once("close", () => resolve("closed")));
  const isStreamed = headerOf(request, "accept")?.includes("text/event-stream") === true;
  let first = await Promise.race([found, closed, ...(isStreamed ? [quiet(quietMs)] : [])]);
  if (first !== "quiet" && first !== "closed") return replyWith(admitted, first);
  let stream: OpenAnswer | null = null;
  while (first === "quiet") {
    stream ??= openAnswer(parts, admitted, { status: 200, type: "text/event-stream", sessionId: null });
    await stream.write(": the call is still under way\n\n");
    first = await Promise.race([found, closed, quiet(commentMs)]);
  }
  if (first === "closed" || stream === null) {
    admitted.received.answer.end = "client-closed";
    return "over";
  }
  return stream.end(Buffer.from(`event: message\ndata: ${JSON.stringify(messageFor(admitted, first))}\n\n`));
}

async function quiet(ms: number): Promise<"quiet"> {
  await sleep(ms, undefined, { ref: false });
  return "quiet";
}

/** The result, or in its place an answer of our own: as any refusal, with its code in the log. */
type Outcome = NonNullable<Ended["message"]> | GatewayError;

const outcomeOf = (repeated: Repeated): Outcome => repeated.ended.message ?? refusalFor(repeated);

function replyWith(admitted: Admitted, outcome: Outcome): Rest {
  if (outcome instanceof GatewayError) throw outcome;
  const body = Buffer.from(JSON.stringify(messageFor(admitted, outcome)));
  return reply(admitted, { status: 200, type: "application/json", sessionId: null, body });
}

function messageFor({ peek }: Admitted, outcome: Outcome): object {
  const envelope = { jsonrpc: "2.0", id: peek.id };
  if (!(outcome instanceof GatewayError)) return { ...envelope, ...outcome };
  const { rpcCode: code, message, code: towpath } = outcome;
  return { ...envelope, error: { code, message, data: { towpath } } };
}

function refusalFor({ ended, startedAt, expiresAt }: Repeated): GatewayError {
  const until = expiresAt ? ` until ${expiresAt.toISOString()}` : "";
  const again = `The same request gets this answer${until}; to run it again, send it with another Idempotency-Key or request id.`;
  const sent = `This call was sent at ${startedAt.toISOString()}`;
  const [code, text] = ((): [GatewayErrorCode, string] => {
    switch (ended.state) {
      case "canceled":
        return ["call_canceled", `${sent}, and its client canceled it.`];
      case "unknown":
        return [
          "outcome_unknown",
          `${sent}, and nobody knows how it ended: it may have been carried out. ${ended.known}`,
        ];
      case "asking":
        return ["result_gone", `${sent} and has become a task, which waits for answers of its client.`];
      default:
        return ["result_gone", `${sent} and has ended, but its result was not kept. ${ended.known ?? ""}`.trim()];
    }
  })();
  return new GatewayError(code, `${text} It was not run again. ${again}`);
}

/** The call that has a claim was another one. */
export function otherCall(): GatewayError {
  return new GatewayError(
    "idempotency_key_refused",
    "This Idempotency-Key was used for a call of another tool or with other arguments. Use a new key for each call; " +
      "this one was not run.",
  );
}

export const endOfStored = (stored: StoredCall, message: Ended["message"]): Ended => ({
  state: stored.state === "running" || stored.state === "fetched" ? "waiting" : stored.state,
  known: stored.known,
  message,
});

/** No claim can be written or read, so a second run can't be excluded. */
export const claimsUnavailable = (): GatewayError =>
  new GatewayError(
    "results_unavailable",
    "Whether this call has been run can't be checked at the moment, so it was not run. Try again shortly.",
    { "retry-after": "2" },
  );

/** There is no result of the call that this one repeats. */
export const notRun = (): GatewayError =>
  new GatewayError(
    "result_gone",
    "The call that this one repeats has ended: it was not sent to its server, or its client got the result. Send it " +
      "again to run it.",
  );

/** The answers were not stored. */
export const tooManyAnswered = (): GatewayError =>
  new GatewayError(
    "server_busy",
    "Too many calls of this server run as tasks at the moment, so this one doesn't go on yet. Send the answers again " +
      "when some have ended.",
    { "retry-after": "5" },
  );

/** The answers were not stored. */
export const noRoomForAnswers = (): GatewayError =>
  new GatewayError(
    "server_busy",
    "The results that are kept for this server leave no room for these answers. Send them again when some were fetched " +
      "or have expired, or all answers at once.",
    { "retry-after": "60" },
  );

/** Nothing was run. */
export const tooManyTasks = (): GatewayError =>
  new GatewayError(
    "server_busy",
    "Too many calls of this server run as tasks at the moment, so this one was not run. Try again when some have ended.",
    { "retry-after": "5" },
  );
