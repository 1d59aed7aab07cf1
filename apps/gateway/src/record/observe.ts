import type { Admitted } from "../call/states.ts";
import type { PendingCalls } from "./pending-calls.ts";
import type { Recorder } from "./recorder.ts";

export type ObserverParts = { pendingCalls: PendingCalls; recorder: Recorder };

/** Observes a piece of an answer that is about to be sent to the client. */
export function observe({ pendingCalls, recorder }: ObserverParts, admitted: Admitted, piece: Buffer): void {
  const { received, session } = admitted;
  const { answer, isMcp } = received;
  answer.push(piece);
  pendingCalls.take(admitted);
  // This piece completes the answer for the client, even if the stream stays open.
  if (isMcp && !session?.resumes && answer.peek?.isStreamAnswered) recorder.record(admitted);
}
