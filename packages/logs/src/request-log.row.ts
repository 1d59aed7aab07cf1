import type { Outcome } from "./log-query.schema.ts";

/** One row for one JSON-RPC message, as the gateway hands it over (GW-7). Column meanings: db schema `request_log`. */
export type RequestLogRow = {
  /** UUIDv7; together with `time` it makes a repeated write harmless. */
  id: string;
  /** Milliseconds since the epoch. */
  time: number;
  organizationId: string;
  projectId: string;
  deploymentId: string;
  kind: "request" | "notification" | "response" | "batch" | "other";
  httpMethod: string;
  method: string | null;
  target: string | null;
  httpStatus: number;
  isError: boolean;
  errorCode: number | null;
  errorMessage: string | null;
  outcome: Outcome;
  durationMs: number;
  heldMs: number;
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
};
