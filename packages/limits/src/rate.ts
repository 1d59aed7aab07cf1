/** Calls that may come in a minute in the long run, and how many of them at once. Both are positive integers. */
export type Rate = { readonly perMinute: number; readonly burst: number };

/** How many calls an instance takes (GW-8). Null: any number. */
export type CallLimits = {
  /** Of one caller at one server. */
  readonly caller: Rate | null;
  /** Of all callers of one server. */
  readonly server: Rate | null;
  /** Of all callers of all servers of one organization. */
  readonly organization: Rate | null;
};

/** What two limits allow together. */
export function lower(one: Rate | null, other: Rate | null): Rate | null {
  if (one === null || other === null) return one ?? other;
  return { perMinute: Math.min(one.perMinute, other.perMinute), burst: Math.min(one.burst, other.burst) };
}
