import type { Reader } from "../reader.ts";

/** Users of a server, as `isUse` defines them: people, keys and, as one, all anonymous callers. Hours since 1970. */
export type Callers = { current: number; previous: number; byHour: ReadonlyMap<number, number> };

/** Callers of a project since `cut`, between `from` and `cut` (by whole hours), and in each hour since `cut`. */
export async function readCallers(
  reader: Reader,
  { projectId, from, cut }: { readonly projectId: string; readonly from: Date; readonly cut: Date },
): Promise<Callers> {
  const { rows } = await reader.query<{ current: number; previous: number; hours: { hour: number; users: number }[] }>(
    `WITH used AS MATERIALIZED (
       SELECT user_id, time, last_used >= $3 AS current FROM request_log_user_hour
       WHERE project_id = $1 AND time >= date_bin('1 hour', $2, 'epoch') AND last_used IS NOT NULL)
     SELECT
       (SELECT count(DISTINCT user_id) FROM used WHERE current)::int AS current,
       (SELECT count(DISTINCT user_id) FROM used WHERE time < date_bin('1 hour', $3, 'epoch'))::int AS previous,
       (SELECT coalesce(json_agg(h), '[]') FROM (
          SELECT date_part('epoch', time) / 3600 AS hour, count(*) AS users FROM used WHERE current GROUP BY 1) AS h) AS hours`,
    [projectId, from, cut],
  );
  const { current = 0, previous = 0, hours = [] } = rows[0] ?? {};
  return { current, previous, byHour: new Map(hours.map(({ hour, users }) => [hour, users])) };
}
