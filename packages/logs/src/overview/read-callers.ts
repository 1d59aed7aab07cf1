import type { Pool } from "pg";

/** Who called: people, keys and, as one, the anonymous. Hours since 1970. */
export type Callers = { current: number; previous: number; byHour: ReadonlyMap<number, number> };

/** Callers of a project since `cut`, between `from` and `cut` (by whole hours), and in each hour since `cut`. */
export async function readCallers(
  pool: Pool,
  { projectId, from, cut }: { readonly projectId: string; readonly from: Date; readonly cut: Date },
): Promise<Callers> {
  const { rows } = await pool.query<{ current: number; previous: number; hours: { hour: number; users: number }[] }>(
    `SELECT
       (SELECT count(*) FROM request_log_user WHERE project_id = $1 AND last_slot >= date_bin('10 minutes', $3, 'epoch')
          AND last_seen >= $3)::int AS current,
       (SELECT count(DISTINCT user_id) FROM request_log_user_hour WHERE project_id = $1
          AND time >= date_bin('1 hour', $2, 'epoch') AND time < date_bin('1 hour', $3, 'epoch'))::int AS previous,
       (SELECT coalesce(json_agg(json_build_object('hour', date_part('epoch', time) / 3600, 'users', users)), '[]')
          FROM request_log_activity WHERE project_id = $1 AND seconds = 3600 AND time >= date_bin('1 hour', $3, 'epoch')) AS hours`,
    [projectId, from, cut],
  );
  const { current = 0, previous = 0, hours = [] } = rows[0] ?? {};
  return { current, previous, byHour: new Map(hours.map(({ hour, users }) => [hour, users])) };
}
