import type { Outcome, StartAttempt } from "./log-query.schema.ts";

/** One row for one JSON-RPC message, as the gateway hands it over (GW-7). Column meanings: db schema `request_log`. */
export type RequestLogRow = {
  /** UUIDv7; together with `time` it makes a repeated write harmless. */
  id: string;
  /** Null when the request's id is `id`: for all but further messages of a batch. */
  requestId: string | null;
  /** Milliseconds since the epoch. */
  time: number;
  organizationId: string;
  projectId: string;
  /** Null for a request to a target that is no deployment. */
  deploymentId: string | null;
  instanceId: string | null;
  kind: "request" | "notification" | "response" | "batch" | "other";
  httpMethod: string;
  method: string | null;
  target: string | null;
  httpStatus: number;
  isError: boolean;
  errorCode: number | null;
  errorMessage: string | null;
  refusal: string | null;
  outcome: Outcome;
  durationMs: number;
  heldMs: number;
  serverMs: number | null;
  startAttempt: StartAttempt | null;
  requestBytes: number;
  responseBytes: number;
  protocolVersion: string | null;
  clientName: string | null;
  clientVersion: string | null;
  session: string | null;
  principal: string;
  traceId: string | null;
  /** Already redacted; null unless the project captures payloads. */
  requestPayload: unknown;
  responsePayload: unknown;
  requestTruncated: boolean | null;
  responseTruncated: boolean | null;
};

/** Longest texts that a row keeps, UTF-16 code units. */
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
 * The row with every text cut to what is stored. Clients and servers choose these texts: they are cut before a row
 * is held in memory or written to disk, not only when it reaches the database.
 */
export function cutTexts(row: RequestLogRow): RequestLogRow {
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
