// Browser-safe.

export type OverviewInput = {
  readonly projectId: string;
  /** Only calls of these deployments. */
  readonly deploymentIds?: readonly string[] | undefined;
};

/** Durations in milliseconds; null without calls. */
export type Traffic = {
  calls: number;
  errors: number;
  p50Ms: number | null;
  p95Ms: number | null;
  /** People, keys and, as one, all anonymous callers; null if unknown, as for deployments. */
  callers: number | null;
};

export type ProjectOverview = {
  /** When it was read, ISO 8601. */
  now: string;
  /** Begin of `current`, ISO 8601: a whole minute. */
  from: string;
  /** The last 24 hours. */
  current: Traffic;
  /** The 24 hours before. */
  previous: Traffic;
  /** The last 24 hours by whole hours; the first one is cut. */
  hours: (Traffic & { start: string })[];
  /** Time of the last call, ISO 8601; null: never, within the log. */
  lastCall: string | null;
  /** The most called tools of the last 24 hours. */
  tools: { tool: string; calls: number; errors: number; p95Ms: number | null }[];
};

/** A server in the list of servers. */
export type ServerActivity = {
  projectId: string;
  /** Of the last 24 hours. */
  calls: number;
  errors: number;
  /** Calls by whole hours, oldest first, 25 of them: the first one is cut. */
  hours: number[];
  /** Time of the last call, ISO 8601; null: never, within the log. */
  lastCall: string | null;
};
