import type { Pool } from "pg";
import { courseLevel, courseOf, courseStep, stepSql } from "../course.ts";
import { type LatencyBucket, latencyQuantile } from "../latency.ts";
import { Conditions, ofSeries, periodOf, scopeCondition } from "../conditions.ts";
import { logQuerySchema, type TimeRange } from "../log-query.schema.ts";
import { floorToMinute, openEnd, spansOf, sumsSql } from "../sums.ts";
import { uriTemplatePattern } from "./uri-template-pattern.ts";

/** What a server offers, by the method that uses it. */
const itemMethods = {
  tool: "tools/call",
  resource: "resources/read",
  template: "resources/read",
  prompt: "prompts/get",
} as const;
type ItemKind = keyof typeof itemMethods;

/** Durations in milliseconds, within 6 %; null without calls. */
type ItemUsage = {
  calls: number;
  errors: number;
  p50Ms: number | null;
  p95Ms: number | null;
  /** Calls over the range, oldest first. */
  course: readonly number[];
};

type Row = {
  name: string;
  calls: number;
  errors: number;
  latency: LatencyBucket[];
  course: { step: number; calls: number }[];
};
const maxItems = 1000;

/**
 * How often each item of a kind was used in the range, by its name: tool, URI, prompt (LOG-1). For templates, reads of the
 * URIs that match each of `templates`, without those of `exceptTargets`, which are resources of their own.
 */
export async function itemUsage(
  pool: Pool,
  input: {
    readonly projectId: string;
    readonly kind: ItemKind;
    readonly timeRange: TimeRange;
    readonly templates?: readonly string[];
    readonly exceptTargets?: readonly string[];
  },
): Promise<ReadonlyMap<string, ItemUsage>> {
  const { projectId, kind, timeRange, templates = [], exceptTargets = [] } = input;
  const now = Date.now();
  const query = logQuerySchema.parse({ projectId, timeRange });
  const conditions = new Conditions();
  const method = conditions.value(itemMethods[kind]);
  const stepMs = courseStep(timeRange);
  const spans = spansOf(floorToMinute(periodOf(query, now).from), openEnd(now), courseLevel(timeRange));
  const sums = sumsSql(
    query,
    conditions,
    spans,
    (alias) => `${scopeCondition(query, conditions, ofSeries(alias))} AND ${alias}.method = ${method}
      AND ${alias}.target IS NOT NULL AND ${alias}.class < 2`,
  );
  const named =
    kind === "template"
      ? `SELECT t.name, s.time, s.class, s.calls, s.latency FROM (${sums}) AS s
         JOIN unnest(${conditions.value(templates)}::text[], ${conditions.value(templates.map(uriTemplatePattern))}::text[])
           AS t (name, pattern) ON s.target ~ t.pattern AND s.target <> ALL(${conditions.value(exceptTargets)}::text[])`
      : `SELECT target AS name, time, class, calls, latency FROM (${sums}) AS s`;
  const { rows } = await pool.query<Row>(
    `WITH cells AS MATERIALIZED (${named}), totals AS (
       SELECT name, sum(calls)::float8 AS calls, coalesce(sum(calls) FILTER (WHERE class = 1), 0)::float8 AS errors
       FROM cells GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${maxItems}
     ), latencies AS (
       SELECT name, json_agg(json_build_object('bucket', bucket, 'calls', calls) ORDER BY bucket) AS latency FROM (
         SELECT name, element >> 40 AS bucket, sum((element & 1099511627775)::float8) AS calls
         FROM cells, unnest(latency) AS element GROUP BY 1, 2) AS buckets
       GROUP BY 1
     ), courses AS (
       SELECT name, json_agg(json_build_object('step', step, 'calls', calls)) AS course FROM (
         SELECT name, ${stepSql("time", stepMs)} AS step, sum(calls)::float8 AS calls FROM cells GROUP BY 1, 2) AS steps
       GROUP BY 1)
     SELECT * FROM totals JOIN latencies USING (name) JOIN courses USING (name)`,
    conditions.values,
  );
  return new Map(
    rows.map(({ name, calls, errors, latency, course }) => [
      name,
      {
        ...{ calls, errors, p50Ms: latencyQuantile(latency, 0.5), p95Ms: latencyQuantile(latency, 0.95) },
        course: courseOf(course, { timeRange, stepMs, now }),
      },
    ]),
  );
}
