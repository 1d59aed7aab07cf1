import type { Pool } from "pg";
import { asksForCallers, asksForSeries, callerWindows } from "./caller-windows.ts";
import { intersectionOf, type Period } from "./query-plan.ts";
import { type KeyedRows, keyCondition, keyedRows } from "./keyed-rows.ts";
import { locateRows, type Window } from "./series-windows.ts";
import { Conditions, isErrorRow, isRefusedRow, periodOf, rowCondition } from "./conditions.ts";
import {
  type LogQuery,
  type LogQueryInput,
  logQuerySchema,
  type RequestLogDetail,
  type RequestLogEntry,
  type RequestLogPage,
} from "./log-query.schema.ts";
import { timeOfRequestId } from "./request-time.ts";
import { floorToMinute } from "./sums.ts";
import { searchWindows } from "./search-windows.ts";

type Row = Omit<RequestLogEntry, "time" | "tool" | "client" | "responseBytes"> & { time: Date; responseBytes: string };

// Without payloads, which may be large. `readRequestLog` returns them.
const columns = `
  id, coalesce(request_id, id) AS "requestId", time, instance_id AS "instanceId", refusal, server_ms AS "serverMs",
  start_attempt AS "startAttempt", deployment_id AS "deploymentId", kind, http_method AS "httpMethod", method, target,
  http_status AS "httpStatus", ${isErrorRow} AS "isError", ${isRefusedRow} AS "isRefused", error_code AS "errorCode", error_message AS "errorMessage",
  outcome, duration_ms AS "durationMs", held_ms AS "heldMs", request_bytes AS "requestBytes",
  response_bytes AS "responseBytes", protocol_version AS "protocolVersion", client_name AS "clientName",
  client_version AS "clientVersion", session, principal, trace_id AS "traceId"`;

/** So many periods with calls of one caller are read whole, whatever is searched for in them. */
const maxWindowsRead = 500;
/** A search with fewer matches than so many pages finds the periods of all of them, for any caller. */
const maxPagesSearched = 20;
/** Up to this offset, an unfiltered page skips rows in the index instead of locating them. */
const maxOffsetRead = 1000;

/**
 * Reads a page of a project's request log, newest first (PRJ-5, VAL-5). `hasMore` says whether a next page exists.
 *
 * @throws ZodError for a query that VAL-5 does not allow. The caller has checked access to the project.
 */
export async function queryRequestLogs(pool: Pool, input: LogQueryInput): Promise<RequestLogPage> {
  const query = logQuerySchema.parse(input);
  const now = Date.now();
  const period = { ...periodOf(query, now), now };
  const keyed = await keyedRows(pool, query, period);
  const rows = (keyed && (await pageOfKeyed(pool, query, period, keyed))) ?? (await pageByWindows(pool, query, period));
  return {
    data: rows.slice(0, query.limit).map(toEntry),
    limit: query.limit,
    offset: query.offset,
    hasMore: rows.length > query.limit,
  };
}

/**
 * A row with its payloads; null when the project has no such row.
 *
 * @param row its id, and its time unless the id tells it. The caller has checked access to the project.
 */
export async function readRequestLog(
  pool: Pool,
  row: { projectId: string; id: string; time?: Date | undefined },
): Promise<RequestLogDetail | null> {
  const { rows } = await pool.query<Row & Omit<RequestLogDetail, keyof RequestLogEntry>>(
    `SELECT ${columns}, request_payload AS "requestPayload", response_payload AS "responsePayload",
       coalesce(request_truncated, false) AS "requestTruncated",
       coalesce(response_truncated, false) AS "responseTruncated"
     FROM request_log WHERE project_id = $1 AND time = $2 AND id = $3`,
    [row.projectId, row.time ?? timeOfRequestId(row.id), row.id],
  );
  const found = rows[0];
  if (!found) return null;
  const { requestPayload, responsePayload, requestTruncated, responseTruncated } = found;
  return { ...toEntry(found), requestPayload, responsePayload, requestTruncated, responseTruncated };
}

/**
 * Reads rows of finished days by an index of these days, after what is newer; null for a search whose few periods hold
 * fewer rows.
 */
async function pageOfKeyed(pool: Pool, query: LogQuery, period: Period, keyed: KeyedRows): Promise<Row[] | null> {
  const need = query.limit + 1;
  const wanted = (query.offset + need) * maxPagesSearched;
  const searched = query.search ? await searchWindows(pool, query, period, wanted) : null;
  if (searched?.since === null) return null;
  const isOld = period.to !== null && period.to < keyed.until;
  const whole = { ...query, offset: 0, limit: query.offset + query.limit };
  const newest = { ...period, from: Math.max(period.from, keyed.until) };
  const newer = isOld ? [] : await pageByWindows(pool, whole, newest, searched && { wanted, found: searched });
  const rows = newer.slice(query.offset);
  if (rows.length >= need) return rows;
  const end = isOld && period.to !== null ? period.to + 1 : keyed.until;
  const skip = Math.max(0, query.offset - newer.length);
  return [
    ...rows,
    ...(await readKeyed(
      pool,
      query,
      { ...period, to: end },
      {
        ...{ ...keyed, columns: searched?.columns, skip, need: need - rows.length },
      },
    )),
  ];
}

/** Each text by itself: only for one hash does the index have the rows in the order of time. */
async function readKeyed(
  pool: Pool,
  query: LogQuery,
  { from, to }: Window,
  {
    index,
    texts,
    columns: searched,
    skip,
    need,
  }: KeyedRows & {
    columns: readonly string[] | undefined;
    skip: number;
    need: number;
  },
): Promise<Row[]> {
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const bounds = `time >= ${conditions.value(new Date(from))} AND time < ${conditions.value(new Date(to ?? from))}`;
  const condition = rowCondition(query, conditions, searched);
  const order = "ORDER BY time DESC, id DESC";
  const parts = texts.map(
    (text) => `(SELECT ${columns} FROM request_log WHERE project_id = ${project} AND ${bounds}
      AND ${keyCondition(index, `hashtextextended(${conditions.value(text)}, 0)`)} AND ${condition}
      ${order} LIMIT ${need + skip})`,
  );
  const { rows } = await pool.query<Row>(
    `SELECT * FROM (${parts.join(" UNION ALL ")}) AS rows ${order} LIMIT ${need} OFFSET ${skip}`,
    conditions.values,
  );
  return rows;
}

/** Where the newest `wanted` matches of a query's search are, in a period that the one to read is a part of. */
type Searched = { readonly wanted: number; readonly found: Awaited<ReturnType<typeof searchWindows>> };

/** Reads the periods that contain the rows, as far as roll-ups, callers and messages tell. */
async function pageByWindows(
  pool: Pool,
  query: LogQuery,
  period: Period,
  searched: Searched | null = null,
): Promise<Row[]> {
  const found = query.search || asksForCallers(query) ? await pageOfFound(pool, query, period, searched) : null;
  return found ?? (await page(pool, query, period));
}

async function page(pool: Pool, query: LogQuery, period: Period): Promise<Row[]> {
  const need = query.limit + 1;
  if (!isFiltered(query) && query.offset <= maxOffsetRead) return readRows(pool, query, [period], query.offset, need);
  const edge = await countEdge(pool, query, period, query.offset + need);
  // The sums don't know callers, so they can't tell where a later page begins.
  const offset = asksForCallers(query) ? 0 : query.offset;
  for (let factor = 1; ; factor *= 8) {
    const found = await locateRows(pool, query, period, {
      ...{ offset, edge, need: (need + query.offset - offset) * factor },
    });
    const rows = await readRows(pool, query, found.windows, found.skip + query.offset - offset, need);
    if (rows.length >= need || found.isWhole) return rows;
  }
}

/** A page of a search or of some callers' calls; null when `page` finds it faster. */
async function pageOfFound(
  pool: Pool,
  query: LogQuery,
  period: Period,
  searched: Searched | null,
): Promise<Row[] | null> {
  const need = query.limit + 1;
  // Callers' calls are counted whatever was called. Twice as many hold a page of what isn't rare among them.
  const isNarrowed = asksForCallers(query) && (query.withoutProtocol || asksForSeries(query));
  const first = searched?.wanted ?? (query.offset + need) * (isNarrowed ? 2 : 1);
  for (let wanted = first; ; wanted *= 8) {
    const known = wanted === first ? (searched?.found ?? null) : null;
    const [texts, called] = await Promise.all([
      query.search && known === null ? searchWindows(pool, query, period, wanted) : known,
      asksForCallers(query) ? callerWindows(pool, query, period, wanted) : null,
    ]);
    // Few calls are faster read than searched for.
    const areFew = called !== null && called.since === null && called.windows.length <= maxWindowsRead;
    const parts = areFew ? [called] : [texts, called].filter((part) => part !== null);
    if (parts.length === 0) return null;
    const since = Math.max(...parts.map((part) => part.since ?? Number.NEGATIVE_INFINITY));
    const windows = parts.map((part) => part.windows).reduce(intersectionOf);
    const end = period.to === null ? null : period.to + 1;
    const complete = intersectionOf(windows, [{ from: Math.max(since, period.from), to: end }]);
    const rows = await readRows(pool, query, complete, query.offset, need, areFew ? undefined : texts?.columns);
    if (rows.length >= need || parts.every((part) => part.since === null)) return rows;
  }
}

const isFiltered = (query: LogQuery) =>
  [query.deploymentIds, query.deploymentId, query.httpMethod, query.jsonrpcMethod, query.methodPrefix].some(Boolean) ||
  [query.toolName, query.target, query.uriTemplate].some((name) => name !== undefined) ||
  [query.longerThanMs, query.shorterThanMs].some((asked) => asked !== undefined) ||
  [query.hasFailed, query.isError, query.isRefused].some((asked) => asked !== undefined) ||
  query.withoutProtocol === true ||
  asksForCallers(query);

/** Counts matching rows, up to `max`, of the minute in which the query ends: roll-ups have whole minutes only. */
async function countEdge(pool: Pool, query: LogQuery, { from, to }: Period, max: number): Promise<number> {
  if (to === null) return 0;
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const start = conditions.value(new Date(Math.max(from, floorToMinute(to))));
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (SELECT FROM request_log WHERE project_id = ${project} AND time >= ${start}
       AND time <= ${conditions.value(new Date(to))} AND ${rowCondition(query, conditions)} LIMIT ${max}) AS rows`,
    conditions.values,
  );
  return rows[0]?.count ?? 0;
}

/** Reads matching rows of `windows`, which are ordered newest first and don't overlap. */
async function readRows(
  pool: Pool,
  query: LogQuery,
  windows: readonly Window[],
  skip: number,
  need: number,
  searched?: readonly string[],
): Promise<Row[]> {
  const oldest = windows.at(-1);
  if (!oldest) return [];
  const conditions = new Conditions();
  const project = conditions.value(query.projectId);
  const end = windows[0]?.to ?? null;
  // Plain parameters, so that the planner prunes the partitions of other days.
  const bounds = `time >= ${conditions.value(new Date(oldest.from))}
    ${end === null ? "" : `AND time < ${conditions.value(new Date(end))}`}`;
  const condition = `project_id = ${project} AND ${bounds} AND ${rowCondition(query, conditions, searched)}`;
  const order = "ORDER BY time DESC, id DESC";
  const limit = `${order} LIMIT ${need} OFFSET ${skip}`;
  if (windows.length === 1) {
    const { rows } = await pool.query<Row>(
      `SELECT ${columns} FROM request_log WHERE ${condition} ${limit}`,
      conditions.values,
    );
    return rows;
  }
  const from = conditions.value(windows.map((window) => new Date(window.from)));
  const to = conditions.value(windows.map((window) => (window.to === null ? "infinity" : new Date(window.to))));
  const { rows } = await pool.query<Row>(
    `SELECT rows.* FROM unnest(${from}::timestamptz[], ${to}::timestamptz[]) AS w (first, beyond) CROSS JOIN LATERAL (
       SELECT ${columns} FROM request_log WHERE ${condition} AND time >= w.first AND time < w.beyond
       ${order} LIMIT ${need + skip}) AS rows ${limit}`,
    conditions.values,
  );
  return rows;
}

function toEntry(row: Row): RequestLogEntry {
  const { clientName, clientVersion } = row;
  return {
    ...row,
    time: row.time.toISOString(),
    responseBytes: Number(row.responseBytes),
    tool: row.method === "tools/call" ? row.target : null,
    client: clientName === null || clientVersion === null ? clientName : `${clientName} ${clientVersion}`,
  };
}
