import type { BuildStatus } from "./build-contract.schema.ts";

/**
 * The transitions of a build's status (BLD-1). `building → queued`: the worker was lost or is stopping. An ended build
 * never changes.
 */
const transitions: Record<BuildStatus, readonly BuildStatus[]> = {
  queued: ["building", "canceled"],
  building: ["succeeded", "failed", "canceled", "queued"],
  succeeded: [],
  failed: [],
  canceled: [],
};

export const mayBecome = (from: BuildStatus, to: BuildStatus): boolean => transitions[from].includes(to);

/** The statuses from which a build may become `to`, for `UPDATE … WHERE status IN`. */
export function expectedBefore(to: BuildStatus): readonly BuildStatus[] {
  return (Object.keys(transitions) as BuildStatus[]).filter((from) => mayBecome(from, to));
}

export const isEnded = (status: BuildStatus): boolean => transitions[status].length === 0;
