import { createHash } from "node:crypto";
import type { ErrorSample, ErrorShare } from "@towpath/db/schema";
import type { ErrorCause } from "./error-cause.ts";

/** Failures of one project with one cause. */
export type Tally = {
  readonly projectId: string;
  readonly fingerprint: string;
  /** The newest failure's. */
  cause: ErrorCause;
  readonly isOverflow: boolean;
  count: number;
  firstSeen: Date;
  lastSeen: Date;
  firstDeploymentId: string | null;
  lastDeploymentId: string | null;
  /** When each deployment (null: none) had the last one. */
  readonly deployments: Map<string | null, Date>;
  /** By the hour's beginning, milliseconds. */
  readonly hours: Map<number, number>;
  readonly callers: Map<string, number>;
  readonly clients: Map<string, number>;
  samples: readonly ErrorSample[];
};

/** What is counted of a failed call. */
export type Counted = {
  readonly id: string;
  readonly projectId: string;
  readonly time: Date;
  readonly deploymentId: string | null;
  readonly principal: string;
  readonly clientName: string | null;
};

const hourMs = 3_600_000;
const maxSamples = 5;
/** Callers, and clients, that a group names. */
const maxShares = 30;

export const fingerprintOf = (key: ErrorCause["key"]): string =>
  createHash("sha256").update(JSON.stringify(key)).digest("base64url").slice(0, 22);

/** Adds up the failures of one cause each. */
export function tallyUp(failures: readonly { readonly call: Counted; readonly cause: ErrorCause }[]): Tally[] {
  const tallies = new Map<string, Tally>();
  for (const { call, cause } of failures) {
    const fingerprint = fingerprintOf(cause.key);
    const id = `${call.projectId} ${fingerprint}`;
    const one = tallyOf(call, cause, fingerprint);
    const before = tallies.get(id);
    if (before) addTally(before, one);
    else tallies.set(id, one);
  }
  return [...tallies.values()];
}

function tallyOf(call: Counted, cause: ErrorCause, fingerprint: string): Tally {
  const { projectId, time, deploymentId } = call;
  return {
    projectId,
    fingerprint,
    cause,
    isOverflow: false,
    count: 1,
    firstSeen: time,
    lastSeen: time,
    firstDeploymentId: deploymentId,
    lastDeploymentId: deploymentId,
    deployments: new Map([[deploymentId, time]]),
    hours: new Map([[Math.floor(time.getTime() / hourMs) * hourMs, 1]]),
    callers: new Map([[call.principal, 1]]),
    clients: new Map(call.clientName === null ? [] : [[call.clientName, 1]]),
    samples: [{ id: call.id, time: time.toISOString() }],
  };
}

/** Adds `more` to `sum`. */
function addTally(sum: Tally, more: Tally): void {
  sum.count += more.count;
  if (more.firstSeen < sum.firstSeen) {
    sum.firstSeen = more.firstSeen;
    sum.firstDeploymentId = more.firstDeploymentId;
  }
  if (more.lastSeen > sum.lastSeen) {
    sum.lastSeen = more.lastSeen;
    sum.lastDeploymentId = more.lastDeploymentId;
    sum.cause = more.cause;
  }
  for (const [id, time] of more.deployments) {
    const before = sum.deployments.get(id);
    if (!before || before < time) sum.deployments.set(id, time);
  }
  for (const kind of ["hours", "callers", "clients"] as const) addCounts(sum[kind], more[kind]);
  sum.samples = newestSamples([...sum.samples, ...more.samples]);
}

function addCounts(sum: Map<unknown, number>, more: ReadonlyMap<unknown, number>): void {
  for (const [key, count] of more) sum.set(key, (sum.get(key) ?? 0) + count);
}

const overflowCause: ErrorCause = {
  key: ["overflow"],
  title: "Other errors",
  exception: null,
  frame: null,
  method: null,
  target: null,
};
export const overflowFingerprint = fingerprintOf(overflowCause.key);

/** What has no group of its own, as one tally for each project. */
export function overflowOf(tallies: readonly Tally[]): Tally[] {
  const sums = new Map<string, Tally>();
  for (const tally of tallies) {
    const sum = sums.get(tally.projectId);
    const one = { ...tally, fingerprint: overflowFingerprint, cause: overflowCause, isOverflow: true };
    if (sum) addTally(sum, one);
    else sums.set(tally.projectId, one);
  }
  return [...sums.values()];
}

export const newestSamples = (samples: readonly ErrorSample[]): readonly ErrorSample[] =>
  samples.toSorted((a, b) => b.time.localeCompare(a.time)).slice(0, maxSamples);

/** A bounded list with more counts, the most frequent first. `hasMore`: it doesn't hold all. */
export function addShares(
  shares: readonly ErrorShare[],
  more: ReadonlyMap<string, number>,
): { readonly shares: readonly ErrorShare[]; readonly hasMore: boolean } {
  const sums = new Map(shares.map(({ name, count }) => [name, count]));
  addCounts(sums, more);
  const all = [...sums].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count);
  return { shares: all.slice(0, maxShares), hasMore: all.length > maxShares };
}
