// Histograms that add up: bucket n holds durations of (lowest * growth^(n-1), lowest * growth^n] ms, bucket 0 all
// that is shorter. Growth is 2^(1/6), so a percentile read from a histogram is within 6 % of a duration that occurred.
// The trigger `towpath_sum_request_log` (packages/db/migrations) computes the same buckets.

const lowestMs = 0.01;
const growth = 2 ** (1 / 6);

/** Calls by bucket, ascending; empty buckets are absent. */
export type LatencyBucket = { bucket: number; calls: number };

/**
 * The duration in milliseconds that a share `quantile` (0 to 1) of calls did not exceed, with a relative error of at
 * most 6 % for durations above 0.01 ms. Null without calls.
 */
export function latencyQuantile(buckets: readonly LatencyBucket[], quantile: number): number | null {
  const total = buckets.reduce((sum, { calls }) => sum + calls, 0);
  if (total === 0) return null;
  const rank = Math.max(1, Math.ceil(total * quantile));
  let seen = 0;
  let at = 0;
  for (const { bucket, calls } of buckets) {
    at = bucket;
    seen += calls;
    if (seen >= rank) break;
  }
  // The geometric middle of a bucket is as far from its lower as from its upper bound.
  return lowestMs * growth ** (at - 0.5);
}
