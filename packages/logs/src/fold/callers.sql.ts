/** CTE `calling`: one row per caller and ten minutes, as later steps cost much per row. */
export const callingCte = `
  calling AS MATERIALIZED (
    SELECT project_id, hash, date_bin('10 minutes', first_seen, 'epoch') AS slot,
      min(deployment_id::text)::uuid AS deployment_id, min(session COLLATE "C") AS session,
      min(principal COLLATE "C") AS principal, min(client_name COLLATE "C") AS client_name,
      min(client_version COLLATE "C") AS client_version, min(protocol_version COLLATE "C") AS protocol_version,
      min(first_seen) AS first_seen, max(last_seen) AS last_seen,
      min(first_seen) FILTER (WHERE calls > refused) AS first_served,
      max(last_seen) FILTER (WHERE calls > refused) AS last_served, max(last_used) AS last_used,
      sum(calls)::bigint AS calls, sum(errors)::bigint AS errors, sum(refused)::bigint AS refused
    FROM (
      SELECT project_id, c.*, hashtextextended(jsonb_build_array(c.deployment_id, c.session, c.principal,
        c.client_name, c.client_version)::text, 0) AS hash
      FROM taken, unnest(caller_deployments, caller_sessions, caller_principals, caller_client_names,
          caller_client_versions, caller_protocol_versions, caller_first_seen, caller_last_seen, caller_calls,
          caller_errors, caller_refused, caller_last_used)
        AS c (deployment_id, session, principal, client_name, client_version, protocol_version, first_seen, last_seen,
          calls, errors, refused, last_used)) AS items
    GROUP BY 1, 2, 3
  )`;

/** Stores callers, grouped by their id alone like series. CTE `called`: those beyond the limit have no name. */
export const keepCallersCtes = `
  called AS MATERIALIZED (
    SELECT c.project_id, c.slot, c.protocol_version, c.first_seen, c.last_seen, c.first_served, c.last_served, c.calls,
      c.errors, c.refused, b.hash IS NOT NULL AS is_overflow,
      CASE WHEN b.hash IS NULL THEN c.deployment_id END AS deployment_id,
      CASE WHEN b.hash IS NULL THEN c.session END AS session,
      CASE WHEN b.hash IS NULL THEN c.principal ELSE '' END AS principal,
      CASE WHEN b.hash IS NULL THEN c.client_name END AS client_name,
      CASE WHEN b.hash IS NULL THEN c.client_version END AS client_version,
      CASE WHEN b.hash IS NULL THEN c.hash ELSE 0 END AS caller_id
    FROM calling AS c LEFT JOIN beyond AS b ON b.kind = 'caller' AND b.project_id = c.project_id AND b.hash = c.hash
  ), callers_kept AS (
    INSERT INTO request_log_caller AS k (project_id, id, deployment_id, session, principal, client_name,
      client_version, search_text, is_overflow, first_seen, last_seen, calls, errors, refused)
    SELECT project_id, caller_id, (array_agg(deployment_id))[1], (array_agg(session))[1], (array_agg(principal))[1],
      (array_agg(client_name))[1], (array_agg(client_version))[1],
      (array_agg(lower(concat_ws(E'\\n', session, principal, client_name))))[1], bool_or(is_overflow),
      min(first_seen), max(last_seen), sum(calls), sum(errors), sum(refused)
    FROM called GROUP BY 1, 2
    ON CONFLICT (project_id, id) DO UPDATE SET first_seen = least(k.first_seen, excluded.first_seen),
      last_seen = greatest(k.last_seen, excluded.last_seen), calls = k.calls + excluded.calls,
      errors = k.errors + excluded.errors, refused = k.refused + excluded.refused
  ), slots_kept AS (
    INSERT INTO request_log_caller_slot AS k
      (project_id, time, caller_id, calls, errors, refused, first_seen, last_seen)
    SELECT project_id, slot, caller_id, sum(calls), sum(errors), sum(refused), min(first_seen), max(last_seen)
    FROM called GROUP BY 1, 2, 3
    ON CONFLICT (project_id, time, caller_id) DO UPDATE SET calls = k.calls + excluded.calls,
      errors = k.errors + excluded.errors, refused = k.refused + excluded.refused,
      first_seen = least(k.first_seen, excluded.first_seen), last_seen = greatest(k.last_seen, excluded.last_seen)
  )`;
