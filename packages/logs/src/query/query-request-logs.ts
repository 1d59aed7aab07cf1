import { Conditions, isErrorRow, isRefusedRow, periodOf, rowCondition } from "./conditions.ts";
import { keptCondition, withKeptStates } from "./kept-states.ts";
import {
  type LogQueryInput,
  logQuerySchema,
  type RequestLogDetail,
  type RequestLogEntry,
  type RequestLogPage,
} from "./log-query.schema.ts";
import { planRows } from "./plan/plan-rows.ts";
import type { QueryPlan, Scope } from "./plan/query-plan.ts";
import { keyCondition } from "./plan/row-key.ts";
import { seekOffset } from "./plan/seek-offset.ts";
import type { Reader } from "./reader.ts";
import { timeOfRequestId } from "./request-time.ts";

type Row = Omit<RequestLogEntry, "time" | "tool" | "client" | "responseBytes" | "kept"> & {
  time: Date;
  responseBytes: string;
};

// Without payloads, which may be large. `readRequestLog` returns them.
const columns = `
  id, coalesce(request_id, id) AS "requestId", time, instance_id AS "instanceId", refusal, server_ms AS "serverMs",
  start_attempt AS "startAttempt", deployment_id AS "deploymentId", kind, http_method AS "httpMethod", method, target,
  http_status AS "httpStatus", ${isErrorRow} AS "isError", ${isRefusedRow} AS "isRefused", error_code AS "errorCode", error_message AS "errorMessage",
  outcome, duration_ms AS "durationMs", held_ms AS "heldMs", request_bytes AS "requestBytes",
  response_bytes AS "responseBytes", protocol_version AS "protocolVersion", client_name AS "clientName",
  client_version AS "clientVersion", session, principal, trace_id AS "traceId"`;

/**
 * Reads a page of a project's request log, newest first (PRJ-5, VAL-5). `hasMore` says whether a next page exists.
 *
 * @throws ZodError for a query that VAL-5 does not allow. The caller has checked access to the project.
 */
export async function queryRequestLogs(reader: Reader, input: LogQueryInput): Promise<RequestLogPage> {
  const query = logQuerySchema.parse(input);
  const { limit, offset } = query;
  const period = periodOf(query, Date.now());
  const also = await keptCondition(reader, query, period);
  const { scope, skip } = await seekOffset({ reader, query, period, ...(also && { also }) });
  const rows = await readPage(scope, skip, limit + 1);
  const data = await withKeptStates(reader, rows.slice(0, limit).map(toEntry));
  const hasMore = rows.length > limit;
  const last = hasMore ? rows[limit - 1] : undefined;
  return { data, limit, offset, hasMore, nextCursor: last ? `${last.time.getTime()}.${last.id}` : null };
}

/** The newest rows of a query for which `also`, an SQL condition, holds. */
export async function readNewest(
  reader: Reader,
  input: LogQueryInput,
  also: (conditions: Conditions) => string,
): Promise<RequestLogEntry[]> {
  const query = logQuerySchema.parse(input);
  const rows = await readPage({ reader, query, period: periodOf(query, Date.now()), also }, 0, query.limit);
  return rows.map(toEntry);
}

/**
 * A row with its payloads; null if the project has no such row.
 *
 * @param row its id, and its time unless the id contains it. The caller has checked access to the project.
 */
export async function readRequestLog(
  reader: Reader,
  row: { projectId: string; id: string; time?: Date | undefined },
): Promise<RequestLogDetail | null> {
  const { rows } = await reader.query<Row & Omit<RequestLogDetail, keyof RequestLogEntry>>(
    `SELECT ${columns}, request_payload AS "requestPayload", response_payload AS "responsePayload",
       coalesce(request_truncated, false) AS "requestTruncated",
       coalesce(response_truncated, false) AS "responseTruncated"
     FROM request_log WHERE project_id = $1 AND time = $2 AND id = $3`,
    [row.projectId, row.time ?? timeOfRequestId(row.id), row.id],
  );
  const found = rows[0];
  if (!found) return null;
  const { requestPayload, responsePayload, requestTruncated, responseTruncated } = found;
  const [entry = toEntry(found)] = await withKeptStates(reader, [toEntry(found)]);
  return { ...entry, requestPayload, responsePayload, requestTruncated, responseTruncated };
}

/** Reads `need` rows of a scope after the first `skip`. */
async function readPage(scope: Scope, skip: number, need: number): Promise<Row[]> {
  const rows: Row[] = [];
  let toSkip = skip;
  for await (const plan of planRows(scope, skip + need)) {
    const found = await readRows(scope, plan, { skip: toSkip, need: need - rows.length });
    rows.push(...found);
    if (rows.length === need) break;
    if (toSkip > 0) toSkip = found.length > 0 ? 0 : toSkip - (await countRows(scope, plan, toSkip));
  }
  return rows;
}

const newestFirst = "ORDER BY time DESC, id DESC";

async function readRows(
  scope: Scope,
  plan: QueryPlan,
  { skip, need }: { readonly skip: number; readonly need: number },
): Promise<Row[]> {
  const conditions = new Conditions();
  const rows = rowsSql(scope, plan, conditions, { selected: columns, limit: need + skip });
  const result = await scope.reader.query<Row>(`${rows} LIMIT ${need} OFFSET ${skip}`, conditions.values);
  return result.rows;
}

/** How many rows match, up to `max`. */
async function countRows(scope: Scope, plan: QueryPlan, max: number): Promise<number> {
  const conditions = new Conditions();
  const rows = rowsSql(scope, plan, conditions, { selected: "time, id", limit: max });
  const result = await scope.reader.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (${rows} LIMIT ${max}) AS rows`,
    conditions.values,
  );
  return result.rows[0]?.count ?? 0;
}

/** SQL of a plan's rows in order, without a limit. `limit`: how many of them are read at most. */
function rowsSql(
  { query, also }: Scope,
  { windows, searched, key }: QueryPlan,
  conditions: Conditions,
  { selected, limit }: { readonly selected: string; readonly limit: number },
): string {
  const time = (ms: number | undefined) => conditions.value(new Date(ms ?? 0));
  // Plain parameters, so that the planner prunes the partitions of other days.
  const condition = `project_id = ${conditions.value(query.projectId)} AND time >= ${time(windows.at(-1)?.from)}
    AND time < ${time(windows[0]?.to)} AND ${rowCondition(query, conditions, searched)} AND ${also?.(conditions) ?? "true"}`;
  const rows = (where: string) => `SELECT ${selected} FROM request_log WHERE ${condition} AND ${where} ${newestFirst}`;
  if (key) {
    const [first = "", ...others] = key.texts.map((text) => rows(keyCondition(key.index, conditions.value(text))));
    if (others.length === 0) return first;
    // A separate statement for each, as the planner knows which texts are frequent.
    const parts = [first, ...others].map((part) => `(${part} LIMIT ${limit})`);
    return `SELECT * FROM (${parts.join(" UNION ALL ")}) AS rows ${newestFirst}`;
  }
  if (windows.length === 1) return rows("true");
  const from = conditions.value(windows.map((window) => new Date(window.from)));
  const to = conditions.value(windows.map((window) => new Date(window.to)));
  // Each window separately, so that the index returns its rows in order.
  return `SELECT rows.* FROM unnest(${from}::timestamptz[], ${to}::timestamptz[]) AS w (first, beyond)
    CROSS JOIN LATERAL (${rows("time >= w.first AND time < w.beyond")} LIMIT ${limit}) AS rows ${newestFirst}`;
}

function toEntry(row: Row): RequestLogEntry {
  const { clientName, clientVersion } = row;
  return {
    ...row,
    time: row.time.toISOString(),
    responseBytes: Number(row.responseBytes),
    kept: null,
    tool: row.method === "tools/call" ? row.target : null,
    client: clientName === null || clientVersion === null ? clientName : `${clientName} ${clientVersion}`,
  };
}
