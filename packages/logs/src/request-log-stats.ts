import type { Pool } from "pg";
import { type LogQueryInput, logQuerySchema, type RequestLogStats } from "./log-query.schema.ts";
import { requestLogFilter } from "./request-log.filter.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const bucketSizes = [second, 5 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute].concat([
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  6 * hour,
  12 * hour,
  day,
  7 * day,
  30 * day,
]);
const mostBuckets = 60;
const mostFacets = 50;

/** The smallest round bucket that draws a range of `rangeMs` with at most 60 bars (61 when the ends are ragged). */
export function bucketMsFor(rangeMs: number): number {
  return bucketSizes.find((size) => rangeMs / size <= mostBuckets) ?? Math.ceil(rangeMs / mostBuckets / day) * day;
}

/**
 * Counts, durations, a chart's buckets and facets of a project's request log (PRJ-5), for the same query as the
 * list; `limit` and `offset` play no part. Facets ignore the method filter and hold the 50 most frequent values.
 *
 * @throws ZodError for a query that VAL-5 does not allow. The caller has checked access to the project.
 */
export async function requestLogStats(pool: Pool, input: LogQueryInput): Promise<RequestLogStats> {
  const query = logQuerySchema.parse(input);
  const filter = requestLogFilter(query, new Date());
  const bucketMs = bucketMsFor(filter.end.getTime() - filter.start.getTime());
  const { rows } = await pool.query(
    `WITH scoped AS MATERIALIZED (
       SELECT time, method, target, is_error, duration_ms, (${filter.method}) IS TRUE AS matches
       FROM request_log WHERE ${filter.scope}
     )
     SELECT
       (SELECT json_build_object('total', count(*), 'errors', count(*) FILTER (WHERE is_error),
          'p50', percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms),
          'p95', percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms))
        FROM scoped WHERE matches) AS totals,
       (SELECT coalesce(json_agg(b), '[]') FROM (
          SELECT floor(extract(epoch FROM time) * 1000 / ${bucketMs}) AS bucket,
            count(*) AS total, count(*) FILTER (WHERE is_error) AS errors
          FROM scoped WHERE matches GROUP BY 1) AS b) AS buckets,
       (SELECT coalesce(json_agg(m), '[]') FROM (
          SELECT method, count(*) AS total, count(*) FILTER (WHERE is_error) AS errors
          FROM scoped WHERE method IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${mostFacets}) AS m) AS methods,
       (SELECT coalesce(json_agg(t), '[]') FROM (
          SELECT target AS tool, count(*) AS total, count(*) FILTER (WHERE is_error) AS errors
          FROM scoped WHERE method = 'tools/call' AND target IS NOT NULL
          GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${mostFacets}) AS t) AS tools`,
    filter.values,
  );
  const { totals, buckets, methods, tools } = rows[0];
  return {
    total: totals.total,
    errors: totals.errors,
    p50Ms: totals.p50,
    p95Ms: totals.p95,
    startDate: filter.start.toISOString(),
    endDate: filter.end.toISOString(),
    bucketMs,
    buckets: fillBuckets(buckets, filter.start.getTime(), filter.end.getTime(), bucketMs),
    methods,
    tools,
  };
}

function fillBuckets(
  found: { bucket: number; total: number; errors: number }[],
  startMs: number,
  endMs: number,
  bucketMs: number,
): RequestLogStats["buckets"] {
  const byNumber = new Map(found.map((bucket) => [bucket.bucket, bucket]));
  const filled: RequestLogStats["buckets"] = [];
  const last = Math.max(Math.floor(endMs / bucketMs), ...byNumber.keys());
  for (let number = Math.floor(startMs / bucketMs); number <= last; number++) {
    const bucket = byNumber.get(number);
    filled.push({
      start: new Date(number * bucketMs).toISOString(),
      total: bucket?.total ?? 0,
      errors: bucket?.errors ?? 0,
    });
  }
  return filled;
}
