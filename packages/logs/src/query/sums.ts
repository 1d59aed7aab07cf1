import {
  asksForDurations,
  Conditions,
  methodCondition,
  ofSeries,
  scopeCondition,
  searchCondition,
} from "./conditions.ts";
import type { LogQuery } from "./log-query.schema.ts";
import type { Reader } from "./reader.ts";
import { lengthOf, type RollupLevel, rollupLevels, type Span } from "./spans.ts";

/**
 * SQL of a query's sums within `spans`: columns time (the period's begin), deployment_id, http_method, method, target,
 * class, is_overflow, calls, latency. Folded and unfolded sums count exactly once, because one statement reads both.
 * `where` returns a condition on the columns of the series with the given alias.
 */
export function sumsSql(
  query: LogQuery,
  conditions: Conditions,
  spans: readonly Span[],
  where: (alias: string) => string,
): string {
  const project = conditions.value(query.projectId);
  const time = (ms: number) => `${conditions.value(new Date(ms))}::timestamptz`;
  const rolled = Map.groupBy(spans, (span) => span.level);
  const selects = [...rolled].map(([level, own]) => {
    const periods = own.map(({ from, to }) => `(r.time >= ${time(from)} AND r.time < ${time(to)})`);
    return `SELECT r.time, s.deployment_id, s.http_method, s.method, s.target, s.class, s.is_overflow, r.calls, r.latency
      FROM ${rollupLevels[level].table} r JOIN request_log_series s ON s.project_id = ${project} AND s.id = r.series_id
      WHERE r.project_id = ${project} AND (${periods.join(" OR ")}) AND ${where("s")}`;
  });
  const inSpans = spans.map(({ from, to }) => `(f.time >= ${time(from)} AND f.time < ${time(to)})`);
  const fresh = `SELECT f.* FROM (${freshSql(project)}) AS f
    WHERE (${inSpans.join(" OR ") || "false"}) AND ${where("f")}`;
  return [...selects, fresh].join(" UNION ALL ");
}

/** Unfolded sums by minute, with the same columns as folded ones. */
const freshSql = (project: string) => `
  SELECT to_timestamp((item->>0)::float8) AS time, (item->>1)::uuid AS deployment_id, item->>2 AS http_method,
    item->>3 AS method, item->>4 AS target, (item->>5)::smallint AS class, false AS is_overflow,
    (item->>6)::bigint AS calls, ARRAY(SELECT e::bigint FROM jsonb_array_elements_text(item->8) AS e) AS latency
  FROM request_log_delta d, jsonb_array_elements(d.series) AS item WHERE d.project_id = ${project}`;

/** A period with the number of rows that match a query. */
export type Counted = Span & {
  matching: number;
  /** All rows of the project in the period; an estimate for periods from `countWithin`. */
  total: number;
};
/** `isExact`: false with overflow series, whose rows may or may not match, and with durations, known by bucket only. */
export type Counts = { periods: Counted[]; isExact: boolean };

/**
 * Counts matching rows in `spans` by period of each span's level, newest first; omits periods without matches. A search
 * matches by method or target here. Overflow series always match.
 */
export async function countPeriods(reader: Reader, query: LogQuery, spans: readonly Span[]): Promise<Counts> {
  const conditions = new Conditions();
  const sums = sumsSql(query, conditions, spans, () => "true");
  const matches = nameCondition(query, conditions, "sums");
  const { rows } = await reader.query<{ time: Date; total: string; matching: string; overflow: string }>(
    `SELECT time, sum(calls) AS total, count(*) FILTER (WHERE is_overflow) AS overflow,
       coalesce(sum(${callsSql(query, conditions, "sums")}) FILTER (WHERE ${matches}), 0) AS matching
     FROM (${sums}) AS sums GROUP BY 1`,
    conditions.values,
  );
  return {
    periods: byPeriod(rows, spans),
    isExact: !asksForDurations(query) && !rows.some(({ overflow }) => Number(overflow) > 0),
  };
}

/** Counts again at the next finer level; totals are estimated from the given periods. */
export async function countWithin(reader: Reader, query: LogQuery, periods: readonly Counted[]): Promise<Counted[]> {
  const spans = periods.map(({ level, from, to }) => ({ level: (level - 1) as RollupLevel, from, to }));
  const conditions = new Conditions();
  const sums = countsSql(query, conditions, spans);
  const { rows } = await reader.query<{ time: Date; matching: string }>(
    `SELECT time, sum(calls) AS matching FROM (${sums}) AS sums GROUP BY 1`,
    conditions.values,
  );
  return byPeriod(
    rows.map(({ time, matching }) => {
      const parent = periods.find(({ from, to }) => from <= time.getTime() && time.getTime() < to);
      const share = parent ? lengthOf((parent.level - 1) as RollupLevel) / lengthOf(parent.level) : 0;
      return { time, matching, total: String((parent?.total ?? 0) * share) };
    }),
    spans,
  );
}

/** Looks matching series up by id, because the finer levels have too many rows to scan. */
function countsSql(query: LogQuery, conditions: Conditions, spans: readonly Span[]): string {
  const project = conditions.value(query.projectId);
  const selects = [...Map.groupBy(spans, (span) => span.level)].map(([level, own]) => {
    const from = conditions.value(own.map((span) => new Date(span.from)));
    const to = conditions.value(own.map((span) => new Date(span.to)));
    // One lateral join instead of a hundred selects, each of which would have to be planned for every partition.
    return `
      SELECT r.time, ${callsSql(query, conditions, "r")} AS calls FROM unnest(${from}::timestamptz[], ${to}::timestamptz[]) AS w (first, beyond)
      CROSS JOIN LATERAL (SELECT time, calls, latency FROM ${rollupLevels[level].table} WHERE project_id = ${project}
        AND time >= w.first AND time < w.beyond AND series_id = ANY((SELECT ids FROM matching)::bigint[])
        OFFSET 0) AS r`;
  });
  const fresh = `SELECT f.time, ${callsSql(query, conditions, "f")} AS calls FROM (${freshSql(project)}) AS f
    WHERE ${nameCondition(query, conditions, "f")}`;
  return `WITH matching AS MATERIALIZED (SELECT array_agg(k.id) AS ids FROM request_log_series k
    WHERE k.project_id = ${project} AND ${nameCondition(query, conditions, "k")})
    ${[...selects, fresh].join(" UNION ALL ")}`;
}

/** How many calls of a sum can have a duration that a query requests: all those in the matching buckets. */
function callsSql(query: LogQuery, conditions: Conditions, alias: string): string {
  if (!asksForDurations(query)) return `${alias}.calls`;
  const bucket = (ms: number) => `towpath_latency_bucket(${conditions.value(ms)}::float8)`;
  const { longerThanMs, shorterThanMs } = query;
  const within = [
    ...(longerThanMs === undefined ? [] : [`e >> 40 >= ${bucket(longerThanMs)}`]),
    ...(shorterThanMs === undefined ? [] : [`e >> 40 <= ${bucket(shorterThanMs)}`]),
  ];
  return `(SELECT coalesce(sum(e & 1099511627775), 0) FROM unnest(${alias}.latency) AS e WHERE ${within.join(" AND ")})`;
}

/** Whether a series can have rows of a query, by its names and class. Overflow series can have any. */
function nameCondition(query: LogQuery, conditions: Conditions, alias: string): string {
  const of = ofSeries(alias);
  const search = searchCondition(query, conditions, [`${alias}.method`, `${alias}.target`]);
  return `${scopeCondition(query, conditions, of)} AND (${alias}.is_overflow OR (
    ${methodCondition(query, conditions, of)} AND ${search}))`;
}

function byPeriod(rows: { time: Date; total: string; matching: string }[], spans: readonly Span[]): Counted[] {
  const counted = new Map<number, Counted>();
  for (const { time, total, matching } of rows) {
    // Unfolded sums are per minute; add them to the period that contains the minute.
    const span = spans.find(({ from, to }) => from <= time.getTime() && time.getTime() < to);
    if (!span) continue;
    const length = lengthOf(span.level);
    const from = Math.floor(time.getTime() / length) * length;
    const known = counted.get(from);
    counted.set(from, {
      level: span.level,
      from,
      to: from + length,
      total: (known?.total ?? 0) + Number(total),
      matching: (known?.matching ?? 0) + Number(matching),
    });
  }
  return [...counted.values()].filter(({ matching }) => matching > 0).sort((a, b) => b.from - a.from);
}
