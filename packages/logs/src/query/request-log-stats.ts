import { Conditions, methodCondition, ofSeries, periodOf, scopeCondition } from "./conditions.ts";
import { type Figure, figuresOf, percentilesOf } from "./figures.ts";
import { latencyQuantile } from "./latency.ts";
import {
  type LogQuery,
  type LogStatsQueryInput,
  logQuerySchema,
  logStatsQuerySchema,
  type RequestLogStats,
} from "./log-query.schema.ts";
import type { Reader } from "./reader.ts";
import { ceilToMinute, floorToMinute, minuteMs, type RollupLevel, rollupLevels, spansOf } from "./spans.ts";
import { sumsSql } from "./sums.ts";

const hour = 60 * minuteMs;
const day = 24 * hour;
const bucketSizes = [1, 2, 5, 10, 30, 60, 120, 240, 360, 720]
  .map((minutes) => minutes * minuteMs)
  .concat([day, 7 * day, 30 * day]);
const maxBuckets = 60;
const maxFacets = 50;

/** The smallest round bucket with which a range of `rangeMs` has at most 60 bars (61 if the ends are ragged). */
export function bucketMsFor(rangeMs: number): number {
  return bucketSizes.find((size) => rangeMs / size <= maxBuckets) ?? Math.ceil(rangeMs / maxBuckets / day) * day;
}

/**
 * Counts, durations, a chart's buckets and facets of a project's request log (PRJ-5), for the same query as the
 * list without its search. Facets ignore the method filter and hold the 50 most frequent values.
 *
 * Read from the roll-ups: minutes count whole, and percentiles are within 6 %.
 *
 * @throws ZodError for a query that VAL-5 does not allow, and for a search. The caller has checked access to the project.
 */
export async function requestLogStats(reader: Reader, input: LogStatsQueryInput): Promise<RequestLogStats> {
  const query = logQuerySchema.parse(logStatsQuerySchema.parse(input));
  const now = Date.now();
  const { from, to } = periodOf(query, now);
  const end = query.endDate?.getTime() ?? now;
  const bucketMs = bucketMsFor(end - from);
  // The chart needs periods that fit its buckets, the rest as few as possible.
  const [{ total, method, tool }, { bucket }] = await Promise.all([
    figuresOf(reader, matchingCells(query, { from, to }), {
      total: { by: "true", where: "matches", hasLatency: true },
      method: { by: "method", where: "method IS NOT NULL", max: maxFacets },
      tool: { by: "target", where: "method = 'tools/call' AND target IS NOT NULL", max: maxFacets },
    }),
    figuresOf(reader, matchingCells(query, { from, to }, levelFor(bucketMs)), {
      bucket: { by: `floor(date_part('epoch', time) * 1000 / ${bucketMs})`, where: "matches" },
    }),
  ]);
  const [all] = total;
  return {
    total: all?.calls ?? 0,
    errors: all?.errors ?? 0,
    refused: all?.refused ?? 0,
    limited: all?.limited ?? 0,
    ...percentilesOf(all),
    p99Ms: latencyQuantile(all?.latency ?? [], 0.99),
    startDate: new Date(from).toISOString(),
    endDate: new Date(end).toISOString(),
    bucketMs,
    buckets: fillBuckets(bucket, floorToMinute(from), end, bucketMs),
    methods: method.map(({ key, calls, errors }) => ({ method: key, total: calls, errors })),
    tools: tool.map(({ key, calls, errors }) => ({ tool: key, total: calls, errors })),
  };
}

/** Sums of a query without its methods, which are in the column `matches`. */
function matchingCells(query: LogQuery, period: { from: number; to: number }, level?: RollupLevel) {
  const conditions = new Conditions();
  const spans = spansOf(floorToMinute(period.from), ceilToMinute(period.to), level);
  const sums = sumsSql(query, conditions, spans, (alias) => scopeCondition(query, conditions, ofSeries(alias)));
  const matches = methodCondition(query, conditions, ofSeries("sums"));
  return { cells: `SELECT *, (${matches}) IS TRUE AS matches FROM (${sums}) AS sums`, conditions };
}

/** The coarsest level whose periods fit into a chart's buckets. */
function levelFor(bucketMs: number): RollupLevel {
  const fitting = rollupLevels.findLastIndex(({ seconds }) => bucketMs % (seconds * 1000) === 0);
  return Math.max(0, fitting) as RollupLevel;
}

function fillBuckets(
  found: readonly Figure[],
  startMs: number,
  endMs: number,
  bucketMs: number,
): RequestLogStats["buckets"] {
  const byNumber = new Map(found.map((figure) => [Number(figure.key), figure]));
  const filled: RequestLogStats["buckets"] = [];
  const last = Math.max(Math.floor(endMs / bucketMs), ...byNumber.keys());
  for (let number = Math.floor(startMs / bucketMs); number <= last; number++) {
    const { calls = 0, errors = 0, refused = 0 } = byNumber.get(number) ?? {};
    filled.push({ start: new Date(number * bucketMs).toISOString(), total: calls, errors, refused });
  }
  return filled;
}
