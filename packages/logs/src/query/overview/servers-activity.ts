import type { Reader } from "../reader.ts";
import { floorToMinute, hourly, minuteMs, openEnd, rollupLevels, spansOf } from "../spans.ts";
import type { ServerActivity } from "./overview.schema.ts";
import { isUse } from "./use-condition.ts";

const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const hoursShown = 25;
/** Projects per statement: those of a large organization are read concurrently, on several connections. */
const projectsAtOnce = 125;

/**
 * Calls and errors of the last 24 hours of each project, by whole hours, and its last call (ORG-2). Calls are defined
 * as in `projectOverview`. The caller has checked access to the projects.
 */
export async function serversActivity(
  reader: Reader,
  projectIds: readonly string[],
  now = Date.now(),
): Promise<readonly ServerActivity[]> {
  const parts = Array.from({ length: Math.ceil(projectIds.length / projectsAtOnce) }, (_, at) =>
    projectIds.slice(at * projectsAtOnce, (at + 1) * projectsAtOnce),
  );
  return (await Promise.all(parts.map((part) => activityOf(reader, part, now)))).flat();
}

/** In one statement. */
async function activityOf(
  reader: Reader,
  projectIds: readonly string[],
  now: number,
): Promise<readonly ServerActivity[]> {
  const cut = floorToMinute(now - dayMs);
  const values: unknown[] = [projectIds];
  const time = (ms: number) => `$${values.push(new Date(ms))}::timestamptz`;
  const rolled = Map.groupBy(spansOf(cut, openEnd(now), hourly), ({ level }) => level);
  const selects = [...rolled].map(([level, spans]) => {
    const periods = spans.map(({ from, to }) => `(r.time >= ${time(from)} AND r.time < ${time(to)})`);
    return `SELECT r.project_id, r.time, r.calls, s.is_error
      FROM ${rollupLevels[level].table} r JOIN series s ON s.project_id = r.project_id AND s.id = r.series_id
      WHERE r.project_id = ANY($1::uuid[]) AND (${periods.join(" OR ")})`;
  });
  // Unfolded sums. Folding deletes them in its own transaction, so one statement counts each call once.
  const fresh = `SELECT f.project_id, f.time, f.calls, f.class = 1 FROM (
      SELECT d.project_id, to_timestamp((item->>0)::float8) AS time, item->>3 AS method, (item->>5)::smallint AS class,
        false AS is_overflow, (item->>6)::bigint AS calls
      FROM request_log_delta d, jsonb_array_elements(d.series) AS item WHERE d.project_id = ANY($1::uuid[])) AS f
    WHERE f.time >= ${time(cut)} AND ${isUse("f")}`;
  const { rows } = await reader.query<{
    projectId: string;
    lastCall: Date | null;
    hours: [hour: number, calls: number, errors: number][] | null;
  }>(
    `WITH series AS MATERIALIZED (SELECT project_id, id, class = 1 AS is_error, last_seen FROM request_log_series s
       WHERE project_id = ANY($1::uuid[]) AND ${isUse("s")}),
     cells AS (${[...selects, fresh].join(" UNION ALL ")}),
     hours AS (SELECT project_id, date_bin('1 hour', time, 'epoch') AS hour, sum(calls::float8) AS calls,
         coalesce(sum(calls::float8) FILTER (WHERE is_error), 0) AS errors, max(time) AS latest
       FROM cells GROUP BY 1, 2),
     latest AS (SELECT project_id, max(last_seen) AS at FROM series GROUP BY 1)
     SELECT p.id AS "projectId", greatest(l.at, h.latest) AS "lastCall", h.hours
     FROM unnest($1::uuid[]) AS p (id) LEFT JOIN latest l ON l.project_id = p.id LEFT JOIN (
       SELECT project_id, max(latest) AS latest, json_agg(json_build_array(date_part('epoch', hour) / 3600, calls, errors)) AS hours
       FROM hours GROUP BY 1) AS h ON h.project_id = p.id`,
    values,
  );
  const first = Math.floor(cut / hourMs);
  return rows.map(({ projectId, lastCall, hours }) => {
    const found = hours ?? [];
    const bars = Array.from({ length: hoursShown }, (_, at) => found.find(([hour]) => hour === first + at)?.[1] ?? 0);
    return {
      projectId,
      calls: found.reduce((sum, [, calls]) => sum + calls, 0),
      errors: found.reduce((sum, [, , errors]) => sum + errors, 0),
      hours: bars,
      lastCall: lastCall?.toISOString() ?? null,
    };
  });
}
