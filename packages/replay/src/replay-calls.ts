import type { ReplayInput, ReplayReport } from "./types.ts";

/**
 * Asks production and the preview the same calls and reports what became different. Never rejects: a server that does not
 * answer is part of the report, and an abort ends it with what was compared so far.
 */
export function replayCalls(_input: ReplayInput): Promise<ReplayReport> {
  return Promise.reject(new Error("The comparison follows in the next commit."));
}
