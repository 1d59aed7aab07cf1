import type { RequestLogRow } from "@towpath/logs";
import { z } from "zod";

/**
 * The values of a row in the order of `columns`: a line has no names, which makes it a third as long, and takes a third
 * of the time to write out.
 */
function valuesOf(row: RequestLogRow): unknown[] {
  return [
    row.id,
    row.requestId,
    row.time,
    row.organizationId,
    row.projectId,
    row.deploymentId,
    row.instanceId,
    row.kind,
    row.httpMethod,
    row.method,
    row.target,
    row.httpStatus,
    row.isError,
    row.errorCode,
    row.errorMessage,
    row.refusal,
    row.outcome,
    row.durationMs,
    row.heldMs,
    row.serverMs,
    row.startAttempt,
    row.requestBytes,
    row.responseBytes,
    row.protocolVersion,
    row.clientName,
    row.clientVersion,
    row.session,
    row.principal,
    row.traceId,
    row.requestPayload,
    row.responsePayload,
    row.requestTruncated,
    row.responseTruncated,
  ];
}

/** `satisfies` names a column that is missing here; a test compares the order. */
const columns = Object.keys({
  id: 1,
  requestId: 1,
  time: 1,
  organizationId: 1,
  projectId: 1,
  deploymentId: 1,
  instanceId: 1,
  kind: 1,
  httpMethod: 1,
  method: 1,
  target: 1,
  httpStatus: 1,
  isError: 1,
  errorCode: 1,
  errorMessage: 1,
  refusal: 1,
  outcome: 1,
  durationMs: 1,
  heldMs: 1,
  serverMs: 1,
  startAttempt: 1,
  requestBytes: 1,
  responseBytes: 1,
  protocolVersion: 1,
  clientName: 1,
  clientVersion: 1,
  session: 1,
  principal: 1,
  traceId: 1,
  requestPayload: 1,
  responsePayload: 1,
  requestTruncated: 1,
  responseTruncated: 1,
} satisfies Record<keyof RequestLogRow, 1>);

/** The first line of a segment: the names of its columns, so that other versions of this program can read it. */
export const headLine = `${JSON.stringify(columns)}\n`;

export function lineOf(row: RequestLogRow): string {
  return `${JSON.stringify(valuesOf(row))}\n`;
}

// Rows were written by this program; the checks only have to detect lines truncated by a crash.
const namesSchema = z.array(z.string());
const rowSchema = z.custom<RequestLogRow>(
  (row) => typeof row === "object" && row !== null && "id" in row && "time" in row && "projectId" in row,
);

/** The rows of a segment, without a last one that a crash cut off. */
export function rowsOfSegment(content: string): RequestLogRow[] {
  const lines = content.split("\n").flatMap(parseLine);
  const names = namesSchema.safeParse(lines[0]);
  // Segments of earlier versions have no names at their top, but in every line.
  const rows = names.success ? lines.slice(1).map((values) => named(names.data, values)) : lines;
  return rows.flatMap((row) => {
    const known = rowSchema.safeParse(row);
    return known.success ? [known.data] : [];
  });
}

function named(names: readonly string[], values: unknown): unknown {
  return Array.isArray(values) ? Object.fromEntries(names.map((name, at) => [name, values[at]])) : null;
}

function parseLine(line: string): unknown[] {
  if (line === "") return [];
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
