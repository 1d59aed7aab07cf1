// Part of the statement of `foldRequestLogs`: sessions and users (docs/decisions/021-sessions-of-both-eras.md). Folds take
// turns, so nobody else writes these tables at the same time.

/**
 * Calls of one principal and client without a session id form one session until a pause of this length. Must be longer
 * than the ten minutes over which callers are summed: calls within these can't be distinguished any more.
 */
const idleGap = "interval '30 minutes'";

/** Periods of `request_log_activity`, seconds. */
const activityPeriods = [600, 3600, 21_600, 86_400] as const;
export type ActivityPeriod = (typeof activityPeriods)[number];
/** Below an hour, users are counted from the callers' slots. */
const userPeriods = activityPeriods.filter((seconds) => seconds >= 3600);

const bin = (time: string) => `date_bin(make_interval(secs => seconds), ${time}, 'epoch')`;
const levels = (periods: readonly number[]) => `unnest(ARRAY[${periods.join(", ")}]) AS l (seconds)`;
/** The latest non-null value of a group's rows. */
const latest = (column: string) =>
  `(array_agg(${column} ORDER BY last_seen DESC) FILTER (WHERE ${column} IS NOT NULL))[1] AS ${column}`;

/**
 * Sessions are connected intervals of calls: new calls join the stored sessions that they touch, and a late row that
 * fills a gap merges two stored sessions. So the order of folding doesn't matter.
 */
const sessionCtes = `
  session_parts AS MATERIALIZED (
    SELECT project_id, CASE WHEN session IS NULL
        THEN hashtextextended(jsonb_build_array(principal, client_name, client_version)::text, 0)
        ELSE hashtextextended(jsonb_build_array(session)::text, 0) END AS key,
      first_served AS first_seen, last_served AS last_seen, session, principal, client_name, client_version,
      protocol_version, deployment_id, calls - refused AS calls, errors
    FROM called WHERE NOT is_overflow AND calls > refused
  ), touched AS MATERIALIZED (
    SELECT s.* FROM (SELECT project_id, key, min(first_seen) AS first_seen, max(last_seen) AS last_seen
      FROM session_parts GROUP BY 1, 2) AS p
    JOIN request_log_session s ON s.project_id = p.project_id AND s.key = p.key AND (s.session IS NOT NULL
      OR s.first_seen <= p.last_seen + ${idleGap} AND s.last_seen >= p.first_seen - ${idleGap})
  ), pieces AS MATERIALIZED (
    SELECT row_number() OVER () AS piece, * FROM (
      SELECT project_id, key, first_seen AS stored, first_seen, last_seen, session, principal, client_name,
        client_version, protocol_version, deployment_id, calls, errors
      FROM touched
      UNION ALL
      SELECT project_id, key, NULL, first_seen, last_seen, session, principal, client_name, client_version,
        protocol_version, deployment_id, calls, errors
      FROM session_parts) AS both_kinds
  ), marked AS (
    SELECT *, session IS NULL AND first_seen > ${idleGap} + max(last_seen) OVER (PARTITION BY project_id, key
      ORDER BY first_seen, piece ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins
    FROM pieces
  ), numbered AS MATERIALIZED (
    SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY project_id, key ORDER BY first_seen, piece
      ROWS UNBOUNDED PRECEDING) AS island
    FROM marked
  ), islands AS MATERIALIZED (
    SELECT project_id, key, island, min(stored) AS stored, min(first_seen) AS first_seen, max(last_seen) AS last_seen,
      ${["session", "principal", "client_name", "client_version", "protocol_version", "deployment_id"].map(latest).join(", ")},
      sum(calls)::bigint AS calls, sum(errors)::bigint AS errors
    FROM numbered GROUP BY 1, 2, 3 HAVING count(*) > count(stored)
  ), replaced AS MATERIALIZED (
    SELECT n.* FROM numbered n JOIN islands i USING (project_id, key, island) WHERE n.stored IS NOT NULL
  ), sessions_joined AS (
    DELETE FROM request_log_session s USING replaced r JOIN islands i USING (project_id, key, island)
    WHERE r.stored <> i.stored AND s.project_id = r.project_id AND s.key = r.key AND s.first_seen = r.stored
  ), sessions_extended AS (
    UPDATE request_log_session s SET first_seen = i.first_seen, last_seen = i.last_seen,
      client_name = i.client_name, client_version = i.client_version, protocol_version = i.protocol_version,
      deployment_id = i.deployment_id, calls = i.calls, errors = i.errors
    FROM islands i
    WHERE s.project_id = i.project_id AND s.key = i.key AND s.first_seen = i.stored
  ), sessions_begun AS (
    INSERT INTO request_log_session (project_id, key, first_seen, last_seen, session, user_id, principal, client_name,
      client_version, protocol_version, deployment_id, calls, errors)
    SELECT project_id, key, first_seen, last_seen, session, hashtextextended(principal, 0), principal, client_name,
      client_version, protocol_version, deployment_id, calls, errors
    FROM islands WHERE stored IS NULL
  )`;

const userCtes = `
  user_parts AS MATERIALIZED (
    SELECT project_id, hashtextextended(principal, 0) AS user_id, principal, client_name, client_version,
      first_served AS first_seen, last_served AS last_seen, last_used, calls - refused AS calls, errors
    FROM calling WHERE calls > refused
  ), users_kept AS (
    INSERT INTO request_log_user AS k (project_id, id, principal, first_seen, last_seen, client_name, client_version,
      calls, errors)
    SELECT project_id, user_id, min(principal), min(first_seen), max(last_seen),
      (array_agg(client_name ORDER BY last_seen DESC))[1], (array_agg(client_version ORDER BY last_seen DESC))[1],
      sum(calls), sum(errors)
    FROM user_parts GROUP BY 1, 2
    ON CONFLICT (project_id, id) DO UPDATE SET first_seen = least(k.first_seen, excluded.first_seen),
      last_seen = greatest(k.last_seen, excluded.last_seen), calls = k.calls + excluded.calls,
      errors = k.errors + excluded.errors,
      client_name = CASE WHEN excluded.last_seen < k.last_seen THEN k.client_name ELSE excluded.client_name END,
      client_version = CASE WHEN excluded.last_seen < k.last_seen THEN k.client_version ELSE excluded.client_version END
  ), user_hours AS MATERIALIZED (
    SELECT project_id, user_id, date_bin('1 hour', first_seen, 'epoch') AS time, sum(calls) AS calls,
      sum(errors) AS errors, max(last_used) AS last_used
    FROM user_parts GROUP BY 1, 2, 3
  ), user_hours_kept AS (
    INSERT INTO request_log_user_hour AS k (project_id, user_id, time, calls, errors, last_used)
    SELECT project_id, user_id, time, calls, errors, last_used FROM user_hours
    ON CONFLICT (project_id, user_id, time) DO UPDATE SET calls = k.calls + excluded.calls,
      errors = k.errors + excluded.errors, last_used = greatest(k.last_used, excluded.last_used)
  ), new_user_periods AS (
    SELECT * FROM (SELECT DISTINCT project_id, user_id, seconds, ${bin("time")} AS time
      FROM user_hours, ${levels(userPeriods)}) AS w
    WHERE NOT EXISTS (SELECT FROM request_log_user_hour h WHERE h.project_id = w.project_id
      AND h.user_id = w.user_id AND h.time >= w.time AND h.time < w.time + make_interval(secs => w.seconds))
  )`;

/** The new counts of changed sessions minus the old ones, and the users who are new in a period. */
const activityCte = `
  session_changes AS MATERIALIZED (
    SELECT project_id, first_seen, last_seen, calls, 1 AS sign FROM islands
    UNION ALL SELECT project_id, first_seen, last_seen, calls, -1 FROM replaced
  ), activity_kept AS (
    INSERT INTO request_log_activity AS k (project_id, seconds, time, begun, ended, ended_calls, ended_ms, users)
    SELECT project_id, seconds, time, sum(begun), sum(ended), sum(ended_calls), sum(ended_ms), sum(users) FROM (
      SELECT project_id, seconds, ${bin("first_seen")} AS time, sign AS begun, 0 AS ended, 0 AS ended_calls,
        0 AS ended_ms, 0 AS users FROM session_changes, ${levels(activityPeriods)}
      UNION ALL
      SELECT project_id, seconds, ${bin("last_seen")}, 0, sign, sign * calls,
        sign * extract(epoch FROM last_seen - first_seen) * 1000, 0 FROM session_changes, ${levels(activityPeriods)}
      UNION ALL
      SELECT project_id, seconds, time, 0, 0, 0, 0, 1 FROM new_user_periods) AS changes
    GROUP BY 1, 2, 3
    ON CONFLICT (project_id, seconds, time) DO UPDATE SET begun = k.begun + excluded.begun,
      ended = k.ended + excluded.ended, ended_calls = k.ended_calls + excluded.ended_calls,
      ended_ms = k.ended_ms + excluded.ended_ms, users = k.users + excluded.users
  )`;

/** Reads the CTEs `calling` (all callers) and `called` (those beyond the daily limit without a name). */
export const keepSessionsCtes = [sessionCtes, userCtes, activityCte].join(", ");
