import type { BuildStatus } from "./build-contract.schema.ts";

/**
 * BLD-1: what a build may become. `building → queued` is a worker that was lost; everything else only moves forward,
 * and an ended build never changes again.
 */
const transitions: Record<BuildStatus, readonly BuildStatus[]> = {
  queued: ["building", "canceled"],
  building: ["succeeded", "failed", "canceled", "queued"],
  succeeded: [],
  failed: [],
  canceled: [],
};

export const mayBecome = (from: BuildStatus, to: BuildStatus): boolean => transitions[from].includes(to);

/** The statuses from which a build may become `to`: what an `UPDATE … WHERE status IN` expects. */
export function expectedBefore(to: BuildStatus): readonly BuildStatus[] {
  return (Object.keys(transitions) as BuildStatus[]).filter((from) => mayBecome(from, to));
}

export const isEnded = (status: BuildStatus): boolean => transitions[status].length === 0;
