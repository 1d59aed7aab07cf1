import type { Pool } from "pg";
import { foldRequestLogs } from "../fold/fold-request-logs.ts";

/** The project that is filled. */
export const projectId = "0192a000-0000-7000-8000-000000000001";
/** One of the project's six deployments, 0 (oldest) to 5 (newest): each is live for five of the thirty days. */
export const deploymentId = (number: number) => `0192a000-0000-7000-8000-00000000010${number}`;

const days = 30;

/**
 * Writes `rows` calls, evenly over the thirty days before now: 31 tools of which one is rare, resources, lists, GET
 * streams, 3 % errors with 200 messages, sessions of about 20 calls within ten minutes, 2000 principals, 6 clients.
 * PostgreSQL generates the rows, and the usual trigger sums them up.
 */
export async function fillProject(pool: Pool, rows: number, report: (text: string) => void): Promise<void> {
  const begun = performance.now();
  const end = Date.now();
  const perDay = Math.floor(rows / days);
  for (let day = 0; day < days; day++) {
    const from = end - (days - day) * 86_400_000;
    for (const time of [from, from + 86_400_000])
      await pool.query("SELECT towpath_ensure_log_partitions($1::date)", [new Date(time).toISOString().slice(0, 10)]);
    await pool.query(insert, [projectId, new Date(from), perDay, day * perDay, deploymentId(Math.floor(day / 5))]);
    while ((await foldRequestLogs(pool)) > 0);
    report(`day ${day + 1} of ${days}: ${perDay} rows, ${Math.round((performance.now() - begun) / 1000)} s`);
  }
}

// Numbers that look random but are the same in each run: a multiplication by a large prime.
const insert = `
  INSERT INTO request_log (id, time, organization_id, project_id, deployment_id, kind, http_method, method, target,
    http_status, is_error, error_code, error_message, outcome, duration_ms, held_ms, request_bytes, response_bytes,
    protocol_version, client_name, client_version, session, principal)
  SELECT gen_random_uuid(), at, $1, $1, $5, CASE WHEN pick >= 98 THEN 'other' ELSE 'request' END,
    CASE WHEN pick >= 98 THEN 'GET' ELSE 'POST' END,
    CASE WHEN n % 15000 = 7 THEN 'tools/call' WHEN n % 20000 = 9 THEN 'prompts/get' WHEN pick < 80 THEN 'tools/call'
      WHEN pick < 88 THEN 'tools/list' WHEN pick < 93 THEN 'resources/read' WHEN pick < 98 THEN 'initialize' END,
    CASE WHEN n % 15000 = 7 THEN 'rare' WHEN n % 20000 = 9 THEN 'greeting'
      WHEN pick < 80 THEN 'tool_' || (mixed / 100 % 30) WHEN pick BETWEEN 88 AND 92 THEN 'file:///notes/' || (mixed / 100 % 20) END,
    200, is_error, NULL, CASE WHEN is_error THEN 'the upstream failed on shard ' || (mixed / 7 % 200) END,
    CASE WHEN is_error THEN 'tool_error' ELSE 'ok' END, exp(2 + mixed % 1000 / 400.0), 0, 180, 420, '2025-11-25',
    (ARRAY['cursor', 'claude', 'vscode', 'inspector', 'goose', 'agent'])[1 + session_number % 6], '1.' || session_number % 3,
    substr(md5(session_number::text), 1, 22), 'user:' || session_number * 7919 % 2000
  FROM (
    SELECT n, at, mixed, mixed % 100 AS pick, mixed % 33 = 0 AS is_error,
      floor(extract(epoch FROM at) / 600)::bigint * 1000 + mixed / 13 % greatest(1, $3 / 144 / 20) AS session_number
    FROM (
      SELECT n, $2::timestamptz + n * (interval '1 day' / $3::int) AS at, ((n + $4::bigint) * 2654435761 % 4294967296) AS mixed
      FROM generate_series(0, $3::int - 1) AS n) AS numbers) AS calls`;
