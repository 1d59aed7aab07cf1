import type { Pool } from "pg";
import { type LatencyBucket, latencyQuantile } from "../latency.ts";
import { Conditions } from "../conditions.ts";
import { logQuerySchema } from "../log-query.schema.ts";
import { floorToMinute, minuteMs, openEnd, spansOf, sumsSql } from "../sums.ts";
import type { OverviewInput, ProjectOverview, Traffic } from "./overview.schema.ts";
import { type Callers, readCallers } from "./read-callers.ts";
import { isUse } from "./use-condition.ts";

const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Level of `rollupLevels`: hours. */
const hourly = 2;
const maxTools = 6;

/**
 * How a project was used in the last 24 hours and in the 24 hours before (PRJ-19). A call is a message that used a tool, a
 * resource or a prompt, or that failed; refused ones count as none.
 *
 * Read from the roll-ups: minutes count whole, and percentiles are within 6 %. Callers are not known by deployment. The
 * caller has checked access to the project.
 */
export async function projectOverview(pool: Pool, input: OverviewInput, now = Date.now()): Promise<ProjectOverview> {
  const { projectId, deploymentIds } = input;
  const cut = floorToMinute(now - dayMs);
  const [sums, lastCall, callers] = await Promise.all([
    readSums(pool, input, cut, now),
    readLastCall(pool, input),
    deploymentIds ? null : readCallers(pool, { projectId, from: new Date(cut - dayMs), cut: new Date(cut) }),
  ]);
  const traffic = (isCurrent: boolean): Traffic => {
    const { calls = 0, errors = 0 } = sums.totals.find((total) => total.current === isCurrent) ?? {};
    const latency = sums.latency.filter(
      ({ hour, tool, current }) => hour === null && tool === null && current === isCurrent,
    );
    return {
      calls,
      errors,
      ...percentiles(latency),
      callers: callers && (isCurrent ? callers.current : callers.previous),
    };
  };
  return {
    now: new Date(now).toISOString(),
    from: new Date(cut).toISOString(),
    current: traffic(true),
    previous: traffic(false),
    lastCall: lastCall?.toISOString() ?? null,
    hours: hoursOf(sums, callers, cut, now),
    tools: sums.tools.map((tool) => ({
      ...tool,
      p95Ms: latencyQuantile(
        sums.latency.filter((each) => each.tool === tool.tool),
        0.95,
      ),
    })),
  };
}

type Sums = {
  totals: { current: boolean; calls: number; errors: number }[];
  hours: { hour: number; calls: number; errors: number }[];
  tools: { tool: string; calls: number; errors: number }[];
  /** Of each half, of each hour of the current one, and of each tool in it. */
  latency: (LatencyBucket & { current: boolean | null; hour: number | null; tool: string | null })[];
};

const countsSql = `sum(calls)::float8 AS calls, coalesce(sum(calls) FILTER (WHERE class = 1), 0)::float8 AS errors`;

async function readSums(pool: Pool, input: OverviewInput, cut: number, now: number): Promise<Sums> {
  const conditions = new Conditions();
  const { projectId, deploymentIds } = input;
  const spans = [...spansOf(cut - dayMs, cut), ...spansOf(cut, openEnd(now), hourly)];
  const deployments = deploymentIds ? conditions.value(deploymentIds) : null;
  const query = logQuerySchema.parse({ projectId });
  const sums = sumsSql(query, conditions, spans, (alias) =>
    [isUse(alias), ...(deployments ? [`${alias}.deployment_id = ANY(${deployments}::uuid[])`] : [])].join(" AND "),
  );
  const text = `WITH cells AS MATERIALIZED (
      SELECT calls, latency, class, time >= ${conditions.value(new Date(cut))} AS current,
        floor(date_part('epoch', time) / 3600) AS hour, CASE WHEN method = 'tools/call' THEN target END AS tool
      FROM (${sums}) AS sums),
    top AS MATERIALIZED (SELECT tool, ${countsSql} FROM cells WHERE current AND tool IS NOT NULL
      GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${maxTools}),
    elements AS (SELECT current, CASE WHEN current THEN hour END AS hour,
        CASE WHEN current AND tool IN (SELECT tool FROM top) THEN tool END AS tool,
        (element >> 40)::int AS bucket, (element & 1099511627775)::float8 AS calls
      FROM cells, unnest(latency) AS element)
    SELECT
      (SELECT coalesce(json_agg(t), '[]') FROM (SELECT current, ${countsSql} FROM cells GROUP BY 1) AS t) AS totals,
      (SELECT coalesce(json_agg(h), '[]') FROM (SELECT hour, ${countsSql} FROM cells WHERE current GROUP BY 1) AS h) AS hours,
      (SELECT coalesce(json_agg(top), '[]') FROM top) AS tools,
      (SELECT coalesce(json_agg(l ORDER BY l.bucket), '[]') FROM (
        SELECT current, hour, tool, bucket, sum(calls) AS calls FROM elements
        GROUP BY GROUPING SETS ((current, bucket), (hour, bucket), (tool, bucket))) AS l) AS latency`;
  const { rows } = await pool.query<Sums>(text, conditions.values);
  return rows[0] ?? { totals: [], hours: [], tools: [], latency: [] };
}

/** Up to the last fold, some seconds ago. */
async function readLastCall(pool: Pool, { projectId, deploymentIds }: OverviewInput): Promise<Date | null> {
  const { rows } = await pool.query<{ at: Date | null }>(
    `SELECT max(last_seen) AS at FROM request_log_series AS s
     WHERE project_id = $1 AND ($2::uuid[] IS NULL OR deployment_id = ANY($2::uuid[])) AND ${isUse("s")}`,
    [projectId, deploymentIds ?? null],
  );
  return rows[0]?.at ?? null;
}

function percentiles(latency: readonly LatencyBucket[]) {
  return { p50Ms: latencyQuantile(latency, 0.5), p95Ms: latencyQuantile(latency, 0.95) };
}

/** The hours from the one of `cut` to now, also those without calls. */
function hoursOf(sums: Sums, callers: Callers | null, cut: number, now: number): ProjectOverview["hours"] {
  const found = new Map(sums.hours.map((each) => [each.hour, each]));
  const latencies = Map.groupBy(sums.latency, ({ hour }) => hour);
  const hours: ProjectOverview["hours"] = [];
  const last = Math.max(Math.floor(now / hourMs), ...found.keys());
  for (let hour = Math.floor(cut / hourMs); hour <= last; hour++) {
    const { calls = 0, errors = 0 } = found.get(hour) ?? {};
    const start = new Date(hour * hourMs).toISOString();
    hours.push({
      start,
      calls,
      errors,
      ...percentiles(latencies.get(hour) ?? []),
      callers: callers && (callers.byHour.get(hour) ?? 0),
    });
  }
  return hours;
}
