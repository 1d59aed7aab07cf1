import type { Pool } from "pg";
import { type LatencyBucket, latencyQuantile } from "./latency.ts";
import { Conditions, methodCondition, ofSeries, periodOf, scopeCondition } from "./conditions.ts";
import {
  type LogQuery,
  type LogStatsQueryInput,
  logQuerySchema,
  logStatsQuerySchema,
  type RequestLogStats,
} from "./log-query.schema.ts";
import { floorToMinute, minuteMs, openEnd, type RollupLevel, rollupLevels, spansOf, sumsSql } from "./sums.ts";

const hour = 60 * minuteMs;
const day = 24 * hour;
const bucketSizes = [1, 2, 5, 10, 30, 60, 120, 240, 360, 720]
  .map((minutes) => minutes * minuteMs)
  .concat([day, 7 * day, 30 * day]);
const maxBuckets = 60;
const maxFacets = 50;

/** The smallest round bucket that draws a range of `rangeMs` with at most 60 bars (61 when the ends are ragged). */
export function bucketMsFor(rangeMs: number): number {
  return bucketSizes.find((size) => rangeMs / size <= maxBuckets) ?? Math.ceil(rangeMs / maxBuckets / day) * day;
}

/** What the statements below give. */
type Figures = {
  totals: { total: number; errors: number; refused: number; limited: number };
  latency: LatencyBucket[];
  buckets: { bucket: number; total: number; errors: number; refused: number }[];
  methods: RequestLogStats["methods"];
  tools: RequestLogStats["tools"];
};

/**
 * Counts, durations, a chart's buckets and facets of a project's request log (PRJ-5), for the same query as the
 * list without its search. Facets ignore the method filter and hold the 50 most frequent values.
 *
 * Read from the roll-ups: minutes count whole, and percentiles are within 6 %.
 *
 * @throws ZodError for a query that VAL-5 does not allow, and for a search. The caller has checked access to the project.
 */
export async function requestLogStats(pool: Pool, input: LogStatsQueryInput): Promise<RequestLogStats> {
  const query = logQuerySchema.parse(logStatsQuerySchema.parse(input));
  const now = Date.now();
  const { from, to } = periodOf(query, now);
  const end = to ?? now;
  const bucketMs = bucketMsFor(end - from);
  const start = floorToMinute(from);
  const beyond = to === null ? openEnd(now) : floorToMinute(to) + minuteMs;
  const figures = await figuresOfSums(pool, query, start, beyond, bucketMs);
  const { totals, latency, buckets, methods, tools } = figures;
  return {
    ...totals,
    p50Ms: latencyQuantile(latency, 0.5),
    p95Ms: latencyQuantile(latency, 0.95),
    p99Ms: latencyQuantile(latency, 0.99),
    startDate: new Date(from).toISOString(),
    endDate: new Date(end).toISOString(),
    bucketMs,
    buckets: fillBuckets(buckets, start, end, bucketMs),
    methods,
    tools,
  };
}

const countsSql = `sum(calls)::float8 AS total, coalesce(sum(calls) FILTER (WHERE class = 1), 0)::float8 AS errors`;

/** The figures of `cells`: columns time, method, target, class, calls, latency, matches (the method filter). */
const figuresSql = `
  SELECT
    (SELECT json_build_object('total', coalesce(sum(calls), 0)::float8,
       'errors', coalesce(sum(calls) FILTER (WHERE class = 1), 0)::float8,
       'refused', coalesce(sum(calls) FILTER (WHERE class IN (2, 3)), 0)::float8,
       'limited', coalesce(sum(calls) FILTER (WHERE class = 3), 0)::float8) FROM cells WHERE matches) AS totals,
    (SELECT coalesce(json_agg(l ORDER BY bucket), '[]') FROM (
       SELECT element >> 40 AS bucket, sum((element & 1099511627775)::float8) AS calls
       FROM cells, unnest(latency) AS element WHERE matches GROUP BY 1) AS l) AS latency,
    (SELECT coalesce(json_agg(m), '[]') FROM (
       SELECT method, ${countsSql} FROM cells WHERE method IS NOT NULL GROUP BY 1
       ORDER BY 2 DESC, 1 LIMIT ${maxFacets}) AS m) AS methods,
    (SELECT coalesce(json_agg(t), '[]') FROM (
       SELECT target AS tool, ${countsSql} FROM cells WHERE method = 'tools/call' AND target IS NOT NULL GROUP BY 1
       ORDER BY 2 DESC, 1 LIMIT ${maxFacets}) AS t) AS tools`;

const bucketsSql = (bucketMs: number) => `
  SELECT floor(extract(epoch FROM start) * 1000 / ${bucketMs})::float8 AS bucket, total, errors, refused FROM (
    SELECT date_bin('${bucketMs} milliseconds', time, 'epoch') AS start, ${countsSql},
      coalesce(sum(calls) FILTER (WHERE class >= 2), 0)::float8 AS refused
    FROM cells WHERE matches GROUP BY 1) AS starts`;

async function figuresOfSums(
  pool: Pool,
  query: LogQuery,
  from: number,
  to: number,
  bucketMs: number,
): Promise<Figures> {
  // The chart needs periods that fit its buckets, all else the fewest.
  const [rest, chart] = await Promise.all([
    pool.query(...sumsStatement(query, from, to, 3, figuresSql)),
    pool.query(...sumsStatement(query, from, to, levelFor(bucketMs), bucketsSql(bucketMs))),
  ]);
  return { ...rest.rows[0], buckets: chart.rows };
}

function sumsStatement(
  query: LogQuery,
  from: number,
  to: number,
  level: RollupLevel,
  figures: string,
): [string, unknown[]] {
  const conditions = new Conditions();
  const sums = sumsSql(query, conditions, spansOf(from, to, level), (alias) =>
    scopeCondition(query, conditions, ofSeries(alias)),
  );
  const matches = methodCondition(query, conditions, ofSeries("sums"));
  // Materialized: PostgreSQL takes a pattern for so rare that it would scan the sums again for each series that fits.
  const text = `WITH cells AS MATERIALIZED (SELECT *, (${matches}) IS TRUE AS matches FROM (${sums}) AS sums) ${figures}`;
  return [text, conditions.values];
}

/** The coarsest level whose periods fit into a chart's buckets. */
function levelFor(bucketMs: number): RollupLevel {
  const fitting = rollupLevels.findLastIndex(({ seconds }) => bucketMs % (seconds * 1000) === 0);
  return Math.max(0, fitting) as RollupLevel;
}

function fillBuckets(
  found: Figures["buckets"],
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
      refused: bucket?.refused ?? 0,
    });
  }
  return filled;
}
