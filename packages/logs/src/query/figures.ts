import type { Conditions } from "./conditions.ts";
import { type LatencyBucket, latencyQuantile } from "./latency.ts";
import type { Reader } from "./reader.ts";

/** Totals of a group's calls. */
export type Figure = {
  /** The value by which they are grouped, as text. */
  readonly key: string;
  readonly calls: number;
  readonly errors: number;
  /** By the gateway, including those refused by a limit. */
  readonly refused: number;
  readonly limited: number;
  /** Absent unless the group has them. */
  readonly latency: readonly LatencyBucket[];
};

/** SQL expressions of columns of the cells. */
export type Group = {
  readonly by: string;
  readonly where?: string;
  /** Number of keys with the most calls; default: all. */
  readonly max?: number;
  readonly hasLatency?: boolean;
};

/**
 * Adds up cells by groups in one statement; most calls first.
 *
 * @param cells SQL with the columns calls, class and latency, and those that the groups name
 */
export async function figuresOf<Name extends string>(
  reader: Reader,
  { cells, conditions }: { readonly cells: string; readonly conditions: Conditions },
  groups: Readonly<Record<Name, Group>>,
): Promise<Record<Name, readonly Figure[]>> {
  const names = Object.keys(groups) as Name[];
  const selects = names.map(
    (name) => `(SELECT '${name}' AS name, figures.* FROM (${figuresSql(groups[name])}) AS figures)`,
  );
  // Materialized: PostgreSQL takes a pattern for so rare that it would scan the sums again for each matching series.
  const { rows } = await reader.query<Figure & { name: Name }>(
    `WITH cells AS MATERIALIZED (${cells}) ${selects.join(" UNION ALL ")}`,
    conditions.values,
  );
  const found = {} as Record<Name, readonly Figure[]>;
  for (const each of names) found[each] = rows.filter(({ name }) => name === each);
  return found;
}

// Sums of float8 take half the time of sums of bigint, which are numeric.
const figuresSql = ({ by, where = "true", max, hasLatency = false }: Group) => `
  SELECT key::text, calls, errors, refused, limited, ${hasLatency ? "l.latency" : "'[]'::json AS latency"} FROM (
    SELECT ${by} AS key, sum(calls::float8) AS calls,
      coalesce(sum(calls::float8) FILTER (WHERE class = 1), 0) AS errors,
      coalesce(sum(calls::float8) FILTER (WHERE class IN (2, 3)), 0) AS refused,
      coalesce(sum(calls::float8) FILTER (WHERE class = 3), 0) AS limited
    FROM cells WHERE ${where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${max ?? "NULL"}) AS c
  ${hasLatency ? `JOIN (${latencySql(by, where)}) AS l USING (key)` : ""} ORDER BY c.calls DESC, key`;

const latencySql = (by: string, where: string) => `
  SELECT key, json_agg(json_build_object('bucket', bucket, 'calls', calls) ORDER BY bucket) AS latency FROM (
    SELECT ${by} AS key, element >> 40 AS bucket, sum((element & 1099511627775)::float8) AS calls
    FROM cells, unnest(latency) AS element WHERE ${where} GROUP BY 1, 2) AS buckets
  GROUP BY 1`;

/** Durations in milliseconds, within 6 %; null without calls. */
export const percentilesOf = (figure: Figure | undefined) => ({
  p50Ms: latencyQuantile(figure?.latency ?? [], 0.5),
  p95Ms: latencyQuantile(figure?.latency ?? [], 0.95),
});
