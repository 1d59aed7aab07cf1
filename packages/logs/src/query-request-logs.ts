import type { Pool } from "pg";
import { type LogQueryInput, logQuerySchema, type RequestLogEntry, type RequestLogPage } from "./log-query.schema.ts";
import { requestLogFilter } from "./request-log.filter.ts";

type Row = Omit<RequestLogEntry, "time" | "tool" | "client" | "responseBytes"> & { time: Date; responseBytes: string };

const columns = `
  id, time, deployment_id AS "deploymentId", kind, http_method AS "httpMethod", method, target,
  http_status AS "httpStatus", is_error AS "isError", error_code AS "errorCode", error_message AS "errorMessage",
  outcome, duration_ms AS "durationMs", held_ms AS "heldMs", request_bytes AS "requestBytes",
  response_bytes AS "responseBytes", protocol_version AS "protocolVersion", client_name AS "clientName",
  client_version AS "clientVersion", session, principal, trace_id AS "traceId",
  request_payload AS "requestPayload", response_payload AS "responsePayload"`;

/**
 * Reads a page of a project's request log, newest first (PRJ-5, VAL-5). `hasMore` says whether a next page exists.
 *
 * @throws ZodError for a query that VAL-5 does not allow. The caller has checked access to the project.
 */
export async function queryRequestLogs(pool: Pool, input: LogQueryInput): Promise<RequestLogPage> {
  const query = logQuerySchema.parse(input);
  const filter = requestLogFilter(query, new Date());
  // NULLS LAST is how the index is made; without it PostgreSQL would sort all of the project's rows.
  const { rows } = await pool.query<Row>(
    `SELECT ${columns} FROM request_log WHERE ${filter.scope} AND ${filter.method}
     ORDER BY request_log.time DESC NULLS LAST, id DESC NULLS LAST
     LIMIT ${query.limit + 1} OFFSET ${query.offset}`,
    filter.values,
  );
  return {
    data: rows.slice(0, query.limit).map(toEntry),
    limit: query.limit,
    offset: query.offset,
    hasMore: rows.length > query.limit,
  };
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
