import type { Admitted } from "../call/states.ts";
import type { PendingCalls } from "./pending-calls.ts";
import type { Recorder } from "./recorder.ts";

export type ObserverParts = { pendingCalls: PendingCalls; recorder: Recorder };

/** Notes a piece of an answer that is about to be sent to the client. */
export function observe({ pendingCalls, recorder }: ObserverParts, admitted: Admitted, piece: Buffer): void {
  const { received, session } = admitted;
  const { answer, isMcp } = received;
  answer.push(piece);
  pendingCalls.take(admitted);
  // The client has its answer with this piece, however long the stream stays open.
  if (isMcp && !session?.resumes && answer.peek?.isStreamAnswered) recorder.record(admitted);
}
