import type { Pool } from "pg";
import { type Location, locateRows, type Window } from "./locate-rows.ts";
import { searchedColumns, searchPattern } from "./log-filter.ts";
import type { LogQuery } from "./log-query.schema.ts";
import { floorToMinute } from "./rollups.ts";

/** Windows that contain every match since `since` (milliseconds); null: every match there is. */
type Found = { windows: Window[]; since: number | null };
type Period = Window & { now: number };

/** What each part looks through, in the order of `searchWindows`. */
const columnsOf = [
  ["method", "target"],
  ["client_name", "session", "principal"],
  ["error_message"],
  searchedColumns,
] as const;

const slotMs = 600_000;
const maxRecentSlots = 1000;

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
): Promise<Pick<Location, "windows" | "isWhole"> & { columns: readonly string[] }> {
  const parts = await Promise.all([
    bySeries(pool, query, period, wanted),
    byCaller(pool, query, period, wanted),
    byMessage(pool, query, period, wanted),
    notFolded(pool, query),
  ]);
  // Before the latest of these, some part's list is incomplete.
  const since = Math.max(...parts.map((part) => part.since ?? Number.NEGATIVE_INFINITY));
  const from = Math.max(period.from, since);
  const windows = merged(
    parts.flatMap((part) => part.windows),
    { from, to: period.to },
  );
  // A part that found nothing at all has no row that its columns would find: testing them costs more than reading.
  const columns = parts.flatMap((part, at) =>
    part.windows.length > 0 || part.since !== null ? (columnsOf[at] ?? []) : [],
  );
  return { windows, isWhole: parts.every((part) => part.since === null), columns: [...new Set(columns)] };
}

async function bySeries(pool: Pool, query: LogQuery, period: Period, wanted: number): Promise<Found> {
  const { windows, isWhole } = await locateRows(pool, query, period, { offset: 0, need: wanted, edge: 0 });
  // Roll-ups don't count parts of a minute, so always read the last one.
  if (period.to !== null) windows.unshift({ from: floorToMinute(period.to), to: period.to + 1 });
  return { windows, since: isWhole ? null : (windows.at(-1)?.from ?? null) };
}

type Slot = { time: Date; first: Date; last: Date; calls: number };
/** `since`: complete from there on; null: complete. */
type Slots = { rows: Slot[]; since: Date | null };

async function byCaller(pool: Pool, query: LogQuery, period: Period, wanted: number): Promise<Found> {
  // The index finds a rare text fast, but all callers of a frequent one, of which the recent ones are enough.
  const recent = await recentSlots(pool, query, period);
  const isEnough = recent.rows.reduce((calls, row) => calls + row.calls, 0) >= wanted;
  const { rows, since: seen } = isEnough ? recent : await slotsOfMatches(pool, query, period, wanted);
  let calls = 0;
  const slot = rows.find((row) => {
    calls += row.calls;
    return calls >= wanted;
  });
  const used = slot ? rows.filter((row) => row.time >= slot.time) : rows;
  // More callers of the last slot may have been cut off.
  const isCut = rows.length >= wanted && used.length === rows.length;
  const since = [...(slot ? [slot.time.getTime() + (isCut ? slotMs : 0)] : []), ...(seen ? [seen.getTime()] : [])];
  return {
    windows: used.map((row) => ({ from: row.first.getTime(), to: row.last.getTime() + 1 })),
    since: since.length > 0 ? Math.max(...since) : null,
  };
}

/** Slots whose caller matches, of the last slots of the period. */
async function recentSlots(pool: Pool, query: LogQuery, { from, to }: Period): Promise<Slots> {
  const { rows } = await pool.query<Slot & { since: Date | null }>(
    `WITH looked AS MATERIALIZED (
       SELECT time, caller_id, first_seen, last_seen, calls FROM request_log_caller_slot
       WHERE project_id = $1 AND time >= date_bin('10 minutes', $2, 'epoch') AND time <= $3
       ORDER BY time DESC LIMIT ${maxRecentSlots})
     SELECT l.time, l.first_seen AS first, l.last_seen AS last, l.calls,
       (SELECT min(time) + interval '10 minutes' FROM looked HAVING count(*) = ${maxRecentSlots}) AS since
     FROM looked l JOIN request_log_caller c ON c.project_id = $1 AND c.id = l.caller_id
     WHERE c.is_overflow OR c.search_text COLLATE "C" LIKE lower($4) ORDER BY l.time DESC`,
    [query.projectId, new Date(from), endOf(to), searchPattern(query.search ?? "")],
  );
  return { rows, since: rows[0]?.since ?? null };
}

/**
 * Slots of all callers that match, newest first. In a period without an end, the newest `wanted` calls belong to the
 * `wanted` most recently seen callers, so the slots of others aren't read.
 */
async function slotsOfMatches(pool: Pool, query: LogQuery, { from, to }: Period, wanted: number): Promise<Slots> {
  const maxCallers = to === null ? wanted : null;
  const { rows } = await pool.query<Slot & { since: Date | null }>(
    `WITH matching AS MATERIALIZED (
       SELECT id, first_seen, last_seen, last_slot FROM request_log_caller
       WHERE project_id = $1 AND search_text COLLATE "C" LIKE lower($4)
       UNION ALL
       -- Callers beyond the daily limit, whose names aren't stored.
       SELECT id, first_seen, last_seen, last_slot FROM request_log_caller
       WHERE project_id = $1 AND id = 0 AND is_overflow
     ), found AS MATERIALIZED (
       SELECT * FROM matching WHERE last_seen >= $2 AND first_seen <= $3 ORDER BY last_slot DESC LIMIT $6)
     SELECT s.*,
       (SELECT min(last_slot) + interval '10 minutes' FROM found HAVING count(*) = $6) AS since
     FROM found CROSS JOIN LATERAL (
       SELECT time, first_seen AS first, last_seen AS last, calls FROM request_log_caller_slot
       WHERE project_id = $1 AND caller_id = found.id AND time >= date_bin('10 minutes', $2, 'epoch') AND time <= $3
         -- So that slots are looked for in the partitions of the caller's days only.
         AND time >= found.first_seen - interval '10 minutes' AND time <= found.last_seen
       -- Keeps PostgreSQL from joining with all slots.
       OFFSET 0) AS s
     ORDER BY s.time DESC LIMIT $5`,
    [query.projectId, new Date(from), endOf(to), searchPattern(query.search ?? ""), wanted, maxCallers],
  );
  return { rows, since: rows[0]?.since ?? null };
}

const endOf = (to: number | null) => (to === null ? "infinity" : new Date(to));

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

/** Periods of unfolded rows, whose names aren't stored yet. */
async function notFolded(pool: Pool, { projectId }: LogQuery): Promise<Found> {
  const { rows } = await pool.query<{ first: Date; last: Date }>(
    "SELECT first_minute AS first, last_minute + interval '1 minute' AS last FROM request_log_delta WHERE project_id = $1",
    [projectId],
  );
  return { windows: rows.map(({ first, last }) => ({ from: first.getTime(), to: last.getTime() })), since: null };
}

/** Sorts windows newest first, merges overlapping ones and clips them to the period. */
function merged(windows: Window[], period: Window): Window[] {
  const end = period.to === null ? Number.POSITIVE_INFINITY : period.to + 1;
  const cut = windows
    .map(({ from, to }) => ({ from: Math.max(from, period.from), to: Math.min(to ?? end, end) }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => b.to - a.to);
  const result: { from: number; to: number }[] = [];
  for (const window of cut) {
    const last = result.at(-1);
    if (last && window.to >= last.from) last.from = Math.min(last.from, window.from);
    else result.push(window);
  }
  return result;
}
