import type { requestLog } from "@towpath/db/schema";
import type { Outcome, StartAttempt } from "../query/log-query.schema.ts";

/**
 * One row for one JSON-RPC message, from the gateway (GW-7). Its id is a UUIDv7; with `time` it makes a repeated write
 * harmless. Payloads are already redacted, and null unless the project captures them.
 */
export type RequestLogRow = Omit<
  typeof requestLog.$inferSelect,
  "time" | "kind" | "outcome" | "startAttempt" | "needsRollup"
> & {
  /** Milliseconds since the epoch. */
  time: number;
  kind: "request" | "notification" | "response" | "batch" | "other";
  outcome: Outcome;
  startAttempt: StartAttempt | null;
};

/** Maximum lengths of a row's texts, UTF-16 code units. */
export const maxTextLengths = {
  kind: 32,
  httpMethod: 16,
  method: 256,
  target: 1024,
  errorMessage: 1024,
  refusal: 64,
  instanceId: 64,
  outcome: 32,
  protocolVersion: 64,
  clientName: 256,
  clientVersion: 128,
  session: 128,
  principal: 256,
  traceId: 64,
} as const satisfies Partial<Record<keyof RequestLogRow, number>>;

const boundedTexts = Object.entries(maxTextLengths) as [keyof typeof maxTextLengths, number][];

/**
 * The row with every text cut to its stored length. Clients and servers choose these texts: they are cut before a row
 * is held in memory or written to disk, not only when it reaches the database.
 */
export function cutTexts(row: RequestLogRow): RequestLogRow {
  if (areShort(row)) return row;
  let cut: Record<string, string> | null = null;
  for (const [name, maxLength] of boundedTexts) {
    const text = row[name];
    if (text === null || text.length <= maxLength) continue;
    cut ??= {};
    // Copied: a slice would keep the whole text in memory.
    cut[name] = Buffer.from(`${text.slice(0, maxLength - 1)}…`).toString();
  }
  return cut === null ? row : ({ ...row, ...cut } as RequestLogRow);
}

/** Almost always. Written out, because this runs for every row, and look-ups by name are ten times slower. */
function areShort(row: RequestLogRow): boolean {
  const max = maxTextLengths;
  return (
    row.kind.length <= max.kind &&
    row.httpMethod.length <= max.httpMethod &&
    (row.method === null || row.method.length <= max.method) &&
    (row.target === null || row.target.length <= max.target) &&
    row.errorMessage === null &&
    row.refusal === null &&
    (row.instanceId === null || row.instanceId.length <= max.instanceId) &&
    row.outcome.length <= max.outcome &&
    (row.protocolVersion === null || row.protocolVersion.length <= max.protocolVersion) &&
    (row.clientName === null || row.clientName.length <= max.clientName) &&
    (row.clientVersion === null || row.clientVersion.length <= max.clientVersion) &&
    (row.session === null || row.session.length <= max.session) &&
    row.principal.length <= max.principal &&
    (row.traceId === null || row.traceId.length <= max.traceId)
  );
}
