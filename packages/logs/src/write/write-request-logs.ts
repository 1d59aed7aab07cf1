import pg, { type Pool } from "pg";
import { foldIfBehind } from "../fold/fold-request-logs.ts";
import { ensureDayPartitions, timeNotAhead } from "./partitions.ts";
import { toArrayLiteral, toPostgresJson, toPostgresText } from "./postgres-text.ts";
import { maxTextLengths, type RequestLogRow } from "./request-log.row.ts";
import { announceRequestLogs } from "./request-log-changes.ts";

type Column = { name: string; type: string; literal: (rows: readonly RequestLogRow[]) => string | null };

function column<Value>(
  name: string,
  type: string,
  read: (row: RequestLogRow) => Value,
  store: (value: Value) => string | number | boolean | null,
): Column {
  return { name, type, literal: (rows) => toArrayLiteral(rows, read, store) };
}

const plain = <Value extends string | number | boolean | null>(
  name: string,
  type: string,
  read: (row: RequestLogRow) => Value,
) => column(name, type, read, (value) => value);

const text = (name: string, property: keyof typeof maxTextLengths) =>
  column(
    name,
    "text",
    (row): string | null => row[property] ?? null,
    (value) => toPostgresText(value, maxTextLengths[property]),
  );

const columns: readonly Column[] = [
  plain("id", "uuid", (row) => row.id),
  // Rows that an earlier version left in a spool lack later columns.
  plain("request_id", "uuid", (row) => row.requestId ?? null),
  plain("time", "float8", (row) => row.time),
  plain("organization_id", "uuid", (row) => row.organizationId),
  plain("project_id", "uuid", (row) => row.projectId),
  plain("deployment_id", "uuid", (row) => row.deploymentId),
  text("instance_id", "instanceId"),
  text("kind", "kind"),
  text("http_method", "httpMethod"),
  text("method", "method"),
  text("target", "target"),
  plain("http_status", "int2", (row) => row.httpStatus),
  plain("is_error", "bool", (row) => row.isError),
  column("error_code", "int4", (row) => row.errorCode, toInt4),
  text("error_message", "errorMessage"),
  text("refusal", "refusal"),
  text("outcome", "outcome"),
  plain("duration_ms", "float8", (row) => row.durationMs),
  plain("held_ms", "float8", (row) => row.heldMs),
  plain("server_ms", "float8", (row) => row.serverMs ?? null),
  column("start_attempt", "text", (row) => row.startAttempt, toPostgresJson),
  plain("request_bytes", "int4", (row) => row.requestBytes),
  plain("response_bytes", "int8", (row) => row.responseBytes),
  text("protocol_version", "protocolVersion"),
  text("client_name", "clientName"),
  text("client_version", "clientVersion"),
  text("session", "session"),
  text("principal", "principal"),
  text("trace_id", "traceId"),
  column("request_payload", "text", (row) => row.requestPayload, toPostgresJson),
  column("response_payload", "text", (row) => row.responsePayload, toPostgresJson),
  plain("request_truncated", "bool", (row) => row.requestTruncated ?? null),
  plain("response_truncated", "bool", (row) => row.responseTruncated ?? null),
];

/** Columns that are sent in another form than stored: the time as milliseconds, JSON as text. */
function selected({ name }: Column): string {
  if (name === "time") return timeNotAhead("to_timestamp(time / 1000)");
  return name.endsWith("_payload") || name === "start_attempt" ? `${name}::jsonb` : name;
}

/** `given`: the columns for which some row has a value; the others are null without being sent. */
const insertOf = (given: readonly Column[]) => `
  INSERT INTO request_log (${given.map(({ name }) => name).join(", ")})
  SELECT ${given.map(selected).join(", ")}
  FROM unnest(${given.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ")})
    AS rows (${given.map(({ name }) => name).join(", ")})`;

type Insert = { readonly name?: string; readonly text: string };
const inserts = new Map<string, Insert>();
/** Combinations of columns that are prepared at each connection. Usual traffic has a few. */
const maxPrepared = 16;

/** Pools behind a pooler in transaction mode, where the next statement may use another connection. */
const unprepared = new WeakSet<Pool>();

function insertFor(given: readonly Column[]): Insert {
  const key = given.map((column) => columns.indexOf(column).toString(36)).join("");
  const known = inserts.get(key);
  if (known) return known;
  const text = insertOf(given);
  if (inserts.size >= maxPrepared) return { text };
  const made = { name: `write-request-logs-${key}`, text };
  inserts.set(key, made);
  return made;
}

/** Rows per statement: the first under usual load, the second for a backlog, where it makes writing a third faster. */
export const requestLogBatches = { batchRows: 500, maxBatchRows: 5000 };

/**
 * Writes request-log rows in one statement (GW-7). All or nothing; writing the same rows again changes nothing, so
 * a spool may be replayed after a lost answer. Announces the change on `towpath_request_log`.
 *
 * A row whose time is more than a day ahead gets the time of writing, so such a row may appear twice after a replay.
 * Texts that are too long for a log are cut, and characters that PostgreSQL cannot hold are replaced.
 */
export async function writeRequestLogs(pool: Pool, rows: readonly RequestLogRow[]): Promise<void> {
  if (rows.length === 0) return;
  await ensureDayPartitions(
    pool,
    rows.map((row) => row.time),
  );
  // A batch has no values in about a third of the columns.
  const given: Column[] = [];
  const values: string[] = [];
  for (const column of columns) {
    const value = column.literal(rows);
    if (value === null) continue;
    given.push(column);
    values.push(value);
  }
  const insert = insertFor(given);
  const isPrepared = !unprepared.has(pool);
  try {
    await pool.query(isPrepared ? { ...insert, values } : { text: insert.text, values });
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    if (isPrepared && lostStatementCodes.has(error.code ?? "")) {
      unprepared.add(pool);
      return await writeRequestLogs(pool, rows);
    }
    if (error.code !== uniqueViolation) throw error;
    // Replays are rare, and ON CONFLICT makes every write a fifth slower: PostgreSQL looks each row up before inserting.
    await pool.query({ text: `${insert.text} ON CONFLICT DO NOTHING`, values });
  }
  announceRequestLogs(
    pool,
    rows.map((row) => row.projectId),
  );
  void foldIfBehind(pool);
}

const uniqueViolation = "23505";
/** Unknown prepared statement, and one that exists already. */
const lostStatementCodes: ReadonlySet<string> = new Set(["26000", "42P05"]);

function toInt4(code: number | null): number | null {
  return code !== null && Number.isInteger(code) && Math.abs(code) < 2 ** 31 ? code : null;
}
