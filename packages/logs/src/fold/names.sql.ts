// A tenant's clients choose the names of tools, methods and sessions, and error messages. A project may have a limited
// number of new ones of each kind in a day (UTC); further ones are counted together, without a name. Parameters: $2
// series, $3 callers, $4 messages.

/**
 * CTE `beyond`: hashes of new names beyond the limit of their day. Of a batch's new names, those with the most calls
 * are kept. Reads `cells`, `calling` and `written_messages`.
 */
export const namesCtes = `
  names AS MATERIALIZED (
    SELECT 'series' AS kind, project_id, hash, sum(calls) AS calls, min(minute) AS first_seen FROM cells GROUP BY 2, 3
    UNION ALL
    SELECT 'caller', project_id, hash, sum(calls), min(first_seen) FROM calling GROUP BY 2, 3
    UNION ALL
    SELECT 'message', project_id, hash, 1, min(first_seen) FROM written_messages GROUP BY 2, 3
  ), new_names AS MATERIALIZED (
    SELECT *, date_trunc('day', first_seen, 'UTC') AS day FROM names AS n WHERE NOT CASE kind
      WHEN 'series' THEN EXISTS (SELECT FROM request_log_series AS k WHERE k.project_id = n.project_id AND k.id = n.hash)
      WHEN 'caller' THEN EXISTS (SELECT FROM request_log_caller AS k WHERE k.project_id = n.project_id AND k.id = n.hash)
      ELSE EXISTS (SELECT FROM request_log_message AS k WHERE k.project_id = n.project_id AND k.id = n.hash) END
  ), named_before AS MATERIALIZED (
    SELECT kind, project_id, day, CASE kind
      WHEN 'series' THEN (SELECT count(*) FROM request_log_series AS k
        WHERE k.project_id = d.project_id AND k.first_seen >= day AND k.first_seen < day + interval '1 day')
      WHEN 'caller' THEN (SELECT count(*) FROM request_log_caller AS k
        WHERE k.project_id = d.project_id AND k.first_seen >= day AND k.first_seen < day + interval '1 day')
      ELSE (SELECT count(*) FROM request_log_message AS k
        WHERE k.project_id = d.project_id AND k.first_seen >= day AND k.first_seen < day + interval '1 day') END AS names
    FROM (SELECT DISTINCT kind, project_id, day FROM new_names) AS d
  ), beyond AS MATERIALIZED (
    SELECT kind, project_id, hash FROM (
      SELECT kind, project_id, hash,
        b.names + row_number() OVER (PARTITION BY kind, project_id, day ORDER BY n.calls DESC) AS rank
      FROM new_names AS n JOIN named_before AS b USING (kind, project_id, day)) AS ranked
    WHERE rank > CASE kind WHEN 'series' THEN $2::int WHEN 'caller' THEN $3::int ELSE $4::int END
  )`;
