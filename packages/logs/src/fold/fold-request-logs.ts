import type { Pool, PoolClient } from "pg";
import { foldSessionsCtes } from "./fold-sessions.ts";
import { rollupLevels } from "../query/sums.ts";

// A tenant's clients choose names of tools, methods and sessions: what is beyond these numbers in a day (UTC) of a
// project is counted together, without a name.
export type FoldLimits = { maxNewSeries: number; maxNewCallers: number; maxNewMessages: number };
const defaultLimits: FoldLimits = { maxNewSeries: 2000, maxNewCallers: 50_000, maxNewMessages: 2000 };

const deltasPerTransaction = 500;

/**
 * Folds the sums that the database keeps of each written batch (`request_log_delta`) into the roll-ups, each exactly
 * once: the transaction that adds a sum deletes it. Processes take turns; one that finds another at it returns 0.
 *
 * @returns how many sums were folded. Call again at once while it is not 0.
 */
export async function foldRequestLogs(pool: Pool, limits: Partial<FoldLimits> = {}): Promise<number> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query("BEGIN");
    const folded = await foldOnce(client, { ...defaultLimits, ...limits });
    await client.query("COMMIT");
    return folded;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    // At once, as it holds up the others: throwing the client away does it a moment later only.
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release(failure);
  }
}

const maxUnfolded = 1000;
const checkEveryMs = 10_000;
const nextChecks = new WeakMap<Pool, number>();

/**
 * Folds if more than 1000 sums wait, at most every ten seconds for a pool. Writers call it: without a worker, sums would
 * pile up, and each reader adds up those that aren't folded. Not awaited by writes, and a failure is the next check's.
 */
export async function foldIfBehind(pool: Pool): Promise<void> {
  const now = Date.now();
  if (now < (nextChecks.get(pool) ?? 0)) return;
  nextChecks.set(pool, now + checkEveryMs);
  try {
    let folded = 1;
    while (folded > 0 && (await isBehind(pool))) folded = await foldRequestLogs(pool);
  } catch {
    // The rows and their sums are written; whoever folds next meets the same error and reports it.
  }
}

async function isBehind(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(`SELECT FROM request_log_delta ORDER BY id LIMIT 1 OFFSET ${maxUnfolded}`);
  return rowCount === 1;
}

async function foldOnce(client: PoolClient, limits: FoldLimits): Promise<number> {
  const lock = await client.query("SELECT pg_try_advisory_xact_lock(hashtext('towpath_fold_request_logs')) AS held");
  if (!lock.rows[0].held) return 0;
  const { rows } = await client.query(foldSql, [
    deltasPerTransaction,
    limits.maxNewSeries,
    limits.maxNewCallers,
    limits.maxNewMessages,
  ]);
  return rows[0].folded;
}

const seriesHash = (method: string, target: string) =>
  `hashtextextended(jsonb_build_array(deployment_id, http_method, ${method}, ${target}, class)::text, 0)`;
const callerHash = (session: string, principal: string, name: string, version: string) =>
  `hashtextextended(jsonb_build_array(deployment_id, ${session}, ${principal}, ${name}, ${version})::text, 0)`;

/**
 * The values of one row of a group. Rows are grouped by their id alone: tenants choose the names that it is a hash of,
 * and two names of one hash must not make the statement fail for everybody.
 */
const firstOf = (...columns: string[]) => columns.map((column) => `(array_agg(${column}))[1]`).join(", ");

/** The same of columns with text. */
const oneOf = (column: string) => `min(${column} COLLATE "C") AS ${column}`;

/** How many names of `table` a project has had since each day began that a new name of `source` belongs to. */
const newNames = (table: string, source: string) => `
  SELECT d.project_id, d.day, (SELECT count(*) FROM ${table} k WHERE k.project_id = d.project_id
    AND k.first_seen >= d.day AND k.first_seen < d.day + interval '1 day') AS known
  FROM (SELECT DISTINCT project_id, date_trunc('day', first_seen, 'UTC') AS day FROM ${source} WHERE is_new) AS d`;

/**
 * CTE `<kind>_beyond`: the names of `source`, by their hash, that are new and beyond the daily limit. Of a batch's new
 * names, those with the most calls are kept.
 */
const namesCtes = (kind: "series" | "caller", source: string, seen: string, limit: string) => `
  wanted_${kind} AS MATERIALIZED (
    SELECT w.*, k.id IS NULL AS is_new FROM (
      SELECT project_id, hash, sum(calls) AS calls, min(${seen}) AS first_seen FROM ${source} GROUP BY 1, 2) AS w
    LEFT JOIN request_log_${kind} k ON k.project_id = w.project_id AND k.id = w.hash
  ), new_${kind} AS MATERIALIZED (${newNames(`request_log_${kind}`, `wanted_${kind}`)}
  ), ${kind}_beyond AS MATERIALIZED (
    SELECT project_id, hash FROM (
      SELECT w.project_id, w.hash, n.known + row_number() OVER (PARTITION BY w.project_id, n.day ORDER BY w.calls DESC) AS rank
      FROM wanted_${kind} w JOIN new_${kind} n
        ON n.project_id = w.project_id AND n.day = date_trunc('day', w.first_seen, 'UTC')
      WHERE w.is_new) AS ranked
    WHERE rank > ${limit}
  )`;

const seriesCtes = `
  cells AS MATERIALIZED (
    SELECT *, ${seriesHash("method", "target")} AS hash FROM (
      SELECT project_id, to_timestamp((item->>0)::float8) AS minute, (item->>1)::uuid AS deployment_id,
        item->>2 AS http_method, item->>3 AS method, item->>4 AS target, (item->>5)::smallint AS class,
        (item->>6)::bigint AS calls, (item->>7)::float8 AS duration_ms, item->8 AS latency
      FROM taken, jsonb_array_elements(series) AS item) AS items
  ), ${namesCtes("series", "cells", "minute", "$2")}, counted AS MATERIALIZED (
    SELECT c.project_id, c.minute, c.deployment_id, c.http_method, c.class, c.calls, c.duration_ms, c.latency,
      b.hash IS NOT NULL AS is_overflow,
      CASE WHEN b.hash IS NULL THEN c.method END AS method, CASE WHEN b.hash IS NULL THEN c.target END AS target,
      CASE WHEN b.hash IS NULL THEN c.hash ELSE ${seriesHash("'overflow'::text", "'overflow'::text").replaceAll(
        /\b(deployment_id|http_method|class)\b/g,
        "c.$1",
      )} END AS series_id
    FROM cells c LEFT JOIN series_beyond b ON b.project_id = c.project_id AND b.hash = c.hash
  ), latencies AS MATERIALIZED (
    SELECT project_id, minute, series_id, element::bigint >> 40 AS bucket,
      sum(element::bigint & 1099511627775)::bigint AS calls
    FROM counted, jsonb_array_elements_text(latency) AS element GROUP BY 1, 2, 3, 4
  ), series_kept AS (
    INSERT INTO request_log_series AS k
      (project_id, id, deployment_id, http_method, method, target, class, is_overflow, first_seen, last_seen)
    SELECT project_id, series_id, ${firstOf("deployment_id", "http_method", "method", "target", "class")},
      bool_or(is_overflow), min(minute), max(minute)
    FROM counted GROUP BY 1, 2
    ON CONFLICT (project_id, id) DO UPDATE SET last_seen = excluded.last_seen
      WHERE k.last_seen < excluded.last_seen
  )`;

const levelCte = ({ table, seconds }: (typeof rollupLevels)[number]) => `
  kept_${table} AS (
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

const callerCtes = `
  -- One row per caller and slot: a batch has each caller of its time, and much below is done for each row.
  calling AS MATERIALIZED (
    SELECT project_id, hash, date_bin('10 minutes', first_seen, 'epoch') AS slot, min(deployment_id::text)::uuid AS deployment_id,
      ${["session", "principal", "client_name", "client_version", "protocol_version"].map(oneOf).join(", ")},
      min(first_seen) AS first_seen, max(last_seen) AS last_seen,
      min(first_seen) FILTER (WHERE calls > refused) AS first_served,
      max(last_seen) FILTER (WHERE calls > refused) AS last_served,
      max(last_used) AS last_used, sum(calls)::bigint AS calls, sum(errors)::bigint AS errors,
      sum(refused)::bigint AS refused
    FROM (
      SELECT project_id, c.*, ${callerHash("session", "principal", "client_name", "client_version")} AS hash
      FROM taken, unnest(caller_deployments, caller_sessions, caller_principals, caller_client_names,
          caller_client_versions, caller_protocol_versions, caller_first_seen, caller_last_seen, caller_calls,
          caller_errors, caller_refused, caller_last_used)
        AS c (deployment_id, session, principal, client_name, client_version, protocol_version, first_seen, last_seen,
          calls, errors, refused, last_used)) AS items
    GROUP BY 1, 2, 3
  ), ${namesCtes("caller", "calling", "first_seen", "$3")}, called AS MATERIALIZED (
    SELECT c.project_id, c.slot, c.protocol_version, c.first_seen, c.last_seen, c.first_served, c.last_served, c.calls,
      c.errors, c.refused, b.hash IS NOT NULL AS is_overflow,
      CASE WHEN b.hash IS NULL THEN c.deployment_id END AS deployment_id,
      CASE WHEN b.hash IS NULL THEN c.session END AS session,
      CASE WHEN b.hash IS NULL THEN c.principal ELSE '' END AS principal,
      CASE WHEN b.hash IS NULL THEN c.client_name END AS client_name,
      CASE WHEN b.hash IS NULL THEN c.client_version END AS client_version,
      CASE WHEN b.hash IS NULL THEN c.hash ELSE 0 END AS caller_id
    FROM calling c LEFT JOIN caller_beyond b ON b.project_id = c.project_id AND b.hash = c.hash
  ), callers_kept AS (
    INSERT INTO request_log_caller AS k (project_id, id, deployment_id, session, principal, client_name,
      client_version, search_text, is_overflow, first_seen, last_seen, calls, errors, refused)
    SELECT project_id, caller_id, ${firstOf("deployment_id", "session", "principal", "client_name", "client_version")},
      ${firstOf("lower(concat_ws(E'\\n', session, principal, client_name))")}, bool_or(is_overflow),
      min(first_seen), max(last_seen), sum(calls), sum(errors), sum(refused)
    FROM called GROUP BY 1, 2
    ON CONFLICT (project_id, id) DO UPDATE SET first_seen = least(k.first_seen, excluded.first_seen),
      last_seen = greatest(k.last_seen, excluded.last_seen), calls = k.calls + excluded.calls,
      errors = k.errors + excluded.errors, refused = k.refused + excluded.refused
  ), slots_kept AS (
    INSERT INTO request_log_caller_slot AS k
      (project_id, time, caller_id, calls, errors, refused, first_seen, last_seen)
    SELECT project_id, slot, caller_id, sum(calls), sum(errors), sum(refused),
      min(first_seen), max(last_seen)
    FROM called GROUP BY 1, 2, 3
    ON CONFLICT (project_id, time, caller_id) DO UPDATE SET calls = k.calls + excluded.calls,
      errors = k.errors + excluded.errors, refused = k.refused + excluded.refused,
      first_seen = least(k.first_seen, excluded.first_seen), last_seen = greatest(k.last_seen, excluded.last_seen)
  )`;

const messageCtes = `
  wanted_messages AS MATERIALIZED (
    SELECT w.*, k.id IS NULL AS is_new FROM (
      SELECT project_id, message, hashtextextended(message, 0) AS hash, min(first_minute) AS first_seen,
        max(last_minute) AS last_seen
      FROM taken, unnest(messages) AS message GROUP BY 1, 2) AS w
    LEFT JOIN request_log_message k ON k.project_id = w.project_id AND k.id = w.hash
  ), new_messages AS MATERIALIZED (${newNames("request_log_message", "wanted_messages")}
  ), ranked_messages AS (
    SELECT w.*, n.known + row_number() OVER (PARTITION BY w.project_id, n.day, w.is_new) AS rank
    FROM wanted_messages w LEFT JOIN new_messages n
      ON w.is_new AND n.project_id = w.project_id AND n.day = date_trunc('day', w.first_seen, 'UTC')
  ), messages_kept AS (
    INSERT INTO request_log_message AS k (project_id, id, search_text, first_seen, last_seen)
    SELECT project_id, CASE WHEN rank > $4 THEN 0 ELSE hash END, CASE WHEN min(rank) > $4 THEN '' ELSE min(lower(message)) END,
      min(first_seen), max(last_seen)
    FROM ranked_messages GROUP BY 1, 2
    ON CONFLICT (project_id, id) DO UPDATE SET first_seen = least(k.first_seen, excluded.first_seen),
      last_seen = greatest(k.last_seen, excluded.last_seen)
  )`;

const foldSql = `
  WITH taken AS MATERIALIZED (
    DELETE FROM request_log_delta WHERE id IN (SELECT id FROM request_log_delta ORDER BY id LIMIT $1) RETURNING *
  ), ${[seriesCtes, ...rollupLevels.map(levelCte), callerCtes, foldSessionsCtes, messageCtes].join(", ")}
  SELECT count(*)::int AS folded FROM taken`;
