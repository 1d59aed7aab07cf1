import { rollupLevels } from "../query/spans.ts";

/** CTE `cells`: calls by series and minute. */
export const cellsCte = `
  cells AS MATERIALIZED (
    SELECT *, hashtextextended(jsonb_build_array(deployment_id, http_method, method, target, class)::text, 0) AS hash
    FROM (
      SELECT project_id, to_timestamp((item->>0)::float8) AS minute, (item->>1)::uuid AS deployment_id,
        item->>2 AS http_method, item->>3 AS method, item->>4 AS target, (item->>5)::smallint AS class,
        (item->>6)::bigint AS calls, (item->>7)::float8 AS duration_ms, item->8 AS latency
      FROM taken, jsonb_array_elements(series) AS item) AS items
  )`;

/**
 * Stores series. They are grouped by their id alone, a hash of names that tenants choose: a collision must not make the
 * statement fail for everybody.
 */
const seriesCtes = `
  counted AS MATERIALIZED (
    SELECT c.project_id, c.minute, c.deployment_id, c.http_method, c.class, c.calls, c.duration_ms, c.latency,
      CASE WHEN b.hash IS NULL THEN c.method END AS method, CASE WHEN b.hash IS NULL THEN c.target END AS target,
      CASE WHEN b.hash IS NULL THEN c.hash ELSE hashtextextended(jsonb_build_array(c.deployment_id, c.http_method,
        'overflow'::text, 'overflow'::text, c.class)::text, 0) END AS series_id,
      b.hash IS NOT NULL AS is_overflow
    FROM cells AS c LEFT JOIN beyond AS b ON b.kind = 'series' AND b.project_id = c.project_id AND b.hash = c.hash
  ), latencies AS MATERIALIZED (
    SELECT project_id, minute, series_id, element::bigint >> 40 AS bucket,
      sum(element::bigint & 1099511627775)::bigint AS calls
    FROM counted, jsonb_array_elements_text(latency) AS element GROUP BY 1, 2, 3, 4
  ), series_kept AS (
    INSERT INTO request_log_series AS k
      (project_id, id, deployment_id, http_method, method, target, class, is_overflow, first_seen, last_seen)
    SELECT project_id, series_id, (array_agg(deployment_id))[1], (array_agg(http_method))[1], (array_agg(method))[1],
      (array_agg(target))[1], (array_agg(class))[1], bool_or(is_overflow), min(minute), max(minute)
    FROM counted GROUP BY 1, 2
    ON CONFLICT (project_id, id) DO UPDATE SET last_seen = excluded.last_seen WHERE k.last_seen < excluded.last_seen
  )`;

/** Adds the counted calls to a roll-up. */
const rollupCte = ({ table, seconds }: (typeof rollupLevels)[number]) => `
  ${table}_kept AS (
    INSERT INTO ${table} AS k (project_id, time, series_id, calls, duration_ms, latency)
    SELECT project_id, time, series_id, s.calls, s.duration_ms, l.latency
    FROM (SELECT project_id, date_bin('${seconds} seconds', minute, 'epoch') AS time, series_id, sum(calls) AS calls,
        sum(duration_ms) AS duration_ms
      FROM counted GROUP BY 1, 2, 3) AS s
    JOIN (SELECT project_id, time, series_id, array_agg((bucket << 40) + calls ORDER BY bucket) AS latency
      FROM (SELECT project_id, date_bin('${seconds} seconds', minute, 'epoch') AS time, series_id, bucket,
          sum(calls)::bigint AS calls
        FROM latencies GROUP BY 1, 2, 3, 4) AS b
      GROUP BY 1, 2, 3) AS l USING (project_id, time, series_id)
    ON CONFLICT (project_id, time, series_id) DO UPDATE SET calls = k.calls + excluded.calls,
      duration_ms = k.duration_ms + excluded.duration_ms, latency = towpath_add_latency(k.latency, excluded.latency)
  )`;

/** Reads `cells` and `beyond`. */
export const keepSeriesCtes = [seriesCtes, ...rollupLevels.map(rollupCte)].join(", ");
