import type { Pool } from "pg";
import { searchCallers } from "./caller-windows.ts";
import { type Found, notFolded, type Period, unionOf } from "./query-plan.ts";
import { locateRows } from "./series-windows.ts";
import { searchedColumns, searchPattern } from "./conditions.ts";
import type { LogQuery } from "./log-query.schema.ts";
import { floorToMinute } from "./sums.ts";

/** What each part looks through, in the order of `searchWindows`. */
const columnsOf = [
  ["method", "target"],
  ["client_name", "session", "principal"],
  ["error_message"],
  searchedColumns,
] as const;

/**
 * Finds the periods that can contain the newest `wanted` rows of a search, newest first. The text is matched against
 * names that are stored once each (series, callers, error messages), which lead to the periods of their rows. The caller
 * tests the rows of these periods against the whole query, a search on `columns`. A text that no name contains costs no row.
 */
export async function searchWindows(
  pool: Pool,
  query: LogQuery,
  period: Period,
  wanted: number,
): Promise<Found & { columns: readonly string[] }> {
  const parts = await Promise.all([
    bySeries(pool, query, period, wanted),
    searchCallers(pool, query, period, wanted),
    byMessage(pool, query, period, wanted),
    notFolded(pool, query),
  ]);
  // A part that found nothing at all has no row that its columns would find: testing them costs more than reading.
  const columns = parts.flatMap((part, at) =>
    part.windows.length > 0 || part.since !== null ? (columnsOf[at] ?? []) : [],
  );
  return { ...unionOf(parts, period), columns: [...new Set(columns)] };
}

async function bySeries(pool: Pool, query: LogQuery, period: Period, wanted: number): Promise<Found> {
  const { windows, isWhole } = await locateRows(pool, query, period, { offset: 0, need: wanted, edge: 0 });
  // Roll-ups don't count parts of a minute, so always read the last one.
  if (period.to !== null) windows.unshift({ from: floorToMinute(period.to), to: period.to + 1 });
  return { windows, since: isWhole ? null : (windows.at(-1)?.from ?? null) };
}

async function byMessage(pool: Pool, query: LogQuery, { from, to }: Period, wanted: number): Promise<Found> {
  const ids = await pool.query<{ id: string }>(
    `SELECT id FROM request_log_message WHERE project_id = $1 AND last_seen >= date_bin('1 minute', $2, 'epoch')
       AND (id = 0 OR search_text COLLATE "C" LIKE lower($3))`,
    [query.projectId, new Date(from), searchPattern(query.search ?? "")],
  );
  if (ids.rows.length === 0) return { windows: [], since: null };
  const inPeriod = `project_id = $1 AND time >= $2 AND ($3::timestamptz IS NULL OR time <= $3)
    AND error_message IS NOT NULL`;
  const newest = "ORDER BY time DESC LIMIT $4";
  // Messages over the daily limit aren't stored; any row with a message may have one.
  const isAny = ids.rows.some(({ id }) => id === "0");
  const values = [query.projectId, new Date(from), to === null ? null : new Date(to), wanted];
  const { rows } = isAny
    ? await pool.query<{ time: Date }>(`SELECT time FROM request_log WHERE ${inPeriod} ${newest}`, values)
    : await pool.query<{ time: Date }>(
        `SELECT r.time FROM unnest($5::bigint[]) AS message CROSS JOIN LATERAL (
           SELECT time FROM request_log WHERE ${inPeriod} AND hashtextextended(error_message, 0) = message ${newest}) AS r
         ${newest}`,
        [...values, ids.rows.map(({ id }) => id)],
      );
  return {
    windows: rows.map(({ time }) => ({ from: time.getTime(), to: time.getTime() + 1 })),
    since: rows.length < wanted ? null : (rows.at(-1)?.time.getTime() ?? null),
  };
}
