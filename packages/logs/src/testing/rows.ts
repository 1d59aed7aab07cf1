import { randomUUID } from "node:crypto";
import type { RequestLogRow } from "../write/request-log.row.ts";

/** A row of a successful `tools/call`, with changes. */
export function requestLogRow(changes: Partial<RequestLogRow> & { projectId: string }): RequestLogRow {
  return {
    id: randomUUID(),
    requestId: null,
    time: Date.now(),
    organizationId: randomUUID(),
    deploymentId: randomUUID(),
    instanceId: null,
    kind: "request",
    httpMethod: "POST",
    method: "tools/call",
    target: "echo",
    httpStatus: 200,
    isError: false,
    errorCode: null,
    errorMessage: null,
    refusal: null,
    outcome: "ok",
    durationMs: 1.5,
    heldMs: 0,
    serverMs: null,
    startAttempt: null,
    requestBytes: 100,
    responseBytes: 200,
    protocolVersion: "2025-11-25",
    clientName: "client",
    clientVersion: "1.0",
    session: "abc",
    principal: "anonymous",
    traceId: null,
    requestPayload: null,
    responsePayload: null,
    requestTruncated: null,
    responseTruncated: null,
    ...changes,
  };
}
