import type { Pool } from "pg";
import { ensureDayPartitions } from "./partitions.ts";
import { toArrayLiteral, toPostgresJson, toPostgresText } from "./postgres-text.ts";
import type { RequestLogRow } from "./request-log.row.ts";

type Column = { name: string; type: string; value: (row: RequestLogRow) => string | number | boolean | null };

const text = (name: string, read: (row: RequestLogRow) => string | null, maxLength: number): Column => ({
  name,
  type: "text",
  value: (row) => toPostgresText(read(row), maxLength),
});

const columns: readonly Column[] = [
  { name: "id", type: "uuid", value: (row) => row.id },
  { name: "time", type: "float8", value: (row) => row.time },
  { name: "organization_id", type: "uuid", value: (row) => row.organizationId },
  { name: "project_id", type: "uuid", value: (row) => row.projectId },
  { name: "deployment_id", type: "uuid", value: (row) => row.deploymentId },
  text("kind", (row) => row.kind, 32),
  text("http_method", (row) => row.httpMethod, 16),
  text("method", (row) => row.method, 256),
  text("target", (row) => row.target, 1024),
  { name: "http_status", type: "int2", value: (row) => row.httpStatus },
  { name: "is_error", type: "bool", value: (row) => row.isError },
  { name: "error_code", type: "int4", value: (row) => toInt4(row.errorCode) },
  text("error_message", (row) => row.errorMessage, 1024),
  text("outcome", (row) => row.outcome, 32),
  { name: "duration_ms", type: "float8", value: (row) => row.durationMs },
  { name: "held_ms", type: "float8", value: (row) => row.heldMs },
  { name: "request_bytes", type: "int4", value: (row) => row.requestBytes },
  { name: "response_bytes", type: "int8", value: (row) => row.responseBytes },
  text("protocol_version", (row) => row.protocolVersion, 64),
  text("client_name", (row) => row.clientName, 256),
  text("client_version", (row) => row.clientVersion, 128),
  text("session", (row) => row.session, 128),
  text("principal", (row) => row.principal, 256),
  text("trace_id", (row) => row.traceId, 64),
  { name: "request_payload", type: "text", value: (row) => toPostgresJson(row.requestPayload) },
  { name: "response_payload", type: "text", value: (row) => toPostgresJson(row.responsePayload) },
];

/** What travels in another form than it is stored: the time as milliseconds, payloads as text. */
function selected({ name }: Column): string {
  if (name === "time") return "to_timestamp(time / 1000)";
  return name.endsWith("_payload") ? `${name}::jsonb` : name;
}

const insert = `
  INSERT INTO request_log (${columns.map((column) => column.name).join(", ")})
  SELECT ${columns.map(selected).join(", ")}
  FROM unnest(${columns.map((column, index) => `$${index + 1}::${column.type}[]`).join(", ")})
    AS rows (${columns.map((column) => column.name).join(", ")})
  ON CONFLICT DO NOTHING`;

/**
 * Writes request-log rows in one statement (GW-7). All or nothing; writing the same rows again changes nothing, so
 * a spool may be replayed after a lost answer.
 *
 * Texts that are too long for a log are cut, and characters that PostgreSQL cannot hold are replaced.
 */
export async function writeRequestLogs(pool: Pool, rows: readonly RequestLogRow[]): Promise<void> {
  if (rows.length === 0) return;
  await ensureDayPartitions(
    pool,
    rows.map((row) => row.time),
  );
  await pool.query({
    name: "write-request-logs",
    text: insert,
    values: columns.map((column) => toArrayLiteral(rows.map(column.value))),
  });
}

function toInt4(code: number | null): number | null {
  return code !== null && Number.isInteger(code) && Math.abs(code) < 2 ** 31 ? code : null;
}
