// Browser-safe.

export type OverviewInput = {
  readonly projectId: string;
  /** Only calls that these deployments served. */
  readonly deploymentIds?: readonly string[] | undefined;
};

/** Durations in milliseconds; null without calls. */
export type Traffic = {
  calls: number;
  errors: number;
  p50Ms: number | null;
  p95Ms: number | null;
  /** People, keys and, as one, the anonymous; null where that is not known: for deployments. */
  callers: number | null;
};

export type ProjectOverview = {
  /** When it was read, ISO 8601. */
  now: string;
  /** From when on `current` counts, ISO 8601: a whole minute. */
  from: string;
  /** The last 24 hours. */
  current: Traffic;
  /** The 24 hours before. */
  previous: Traffic;
  /** The last 24 hours by whole hours; the first one is cut. */
  hours: (Traffic & { start: string })[];
  /** When it was last called, ISO 8601; null: never, as far as the log reaches. */
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
  /** When it was last called, ISO 8601; null: never, as far as the log reaches. */
  lastCall: string | null;
};
