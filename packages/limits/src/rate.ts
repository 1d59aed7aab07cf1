/** Calls per minute in the long run, and calls at once. Both are positive integers. */
export type Rate = { readonly perMinute: number; readonly burst: number };

/** The limits of an instance's calls (GW-8). Null: no limit. */
export type CallLimits = {
  /** For one caller at one server. */
  readonly caller: Rate | null;
  /** For all callers of one server. */
  readonly server: Rate | null;
  /** For all callers of all servers of one organization. */
  readonly organization: Rate | null;
};

/** The stricter parts of two limits. */
export function lower(one: Rate | null, other: Rate | null): Rate | null {
  if (one === null || other === null) return one ?? other;
  return { perMinute: Math.min(one.perMinute, other.perMinute), burst: Math.min(one.burst, other.burst) };
}
