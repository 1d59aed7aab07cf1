import type { RequestLogRow } from "@towpath/logs";
import type { TraceContext } from "./trace-context.ts";

/** A request that has ended, for the exporter: the content of a span, without payload. */
export type Span = {
  readonly trace: TraceContext;
  readonly rpcId: string | number | null;
  readonly userAgent: string | undefined;
  readonly row: Omit<RequestLogRow, "requestPayload" | "responsePayload">;
};

type Value = string | number | null | undefined;

const server = 2;
const error = 2;
/** Span flags: sampled; whether the parent is remote is known; it is (opentelemetry-proto, SpanFlags). */
const flags = 0x01 | 0x100 | 0x200;

/**
 * Spans as the body of an OTLP/HTTP request in JSON (OTLP specification 1.x, "JSON Protobuf Encoding"). Names and
 * attributes follow the OpenTelemetry semantic conventions for MCP, GenAI, RPC and HTTP; others begin with `towpath.`.
 */
export function otlpJson(spans: readonly Span[], resource: Readonly<Record<string, string>>): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributes(resource) },
        scopeSpans: [{ scope: { name: "towpath.gateway" }, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan(span: Span) {
  const { trace, row } = span;
  // This encoding has 64-bit integers as strings.
  const startMicros = row.time * 1000;
  const endMicros = startMicros + Math.max(0, Math.round(row.durationMs * 1000));
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    ...(trace.parentSpanId !== null && { parentSpanId: trace.parentSpanId }),
    flags: trace.parentSpanId === null ? 0x101 : flags,
    name: nameOf(row),
    kind: server,
    startTimeUnixNano: `${startMicros}000`,
    endTimeUnixNano: `${endMicros}000`,
    attributes: attributes(attributesOf(span)),
    status: statusOf(row),
  };
}

/** Without a tool's result: payloads are never exported. */
function statusOf({ isError, errorMessage, outcome }: Span["row"]): { code?: number; message?: string } {
  if (!isError) return {};
  return errorMessage === null || outcome === "tool_error" ? { code: error } : { code: error, message: errorMessage };
}

/** `{mcp.method.name} {target}`, where the target is a tool or a prompt: resources are too many. */
function nameOf({ method, target, httpMethod }: Span["row"]): string {
  if (method === null) return httpMethod;
  return target !== null && (method === "tools/call" || method === "prompts/get") ? `${method} ${target}` : method;
}

function attributesOf({ row, rpcId, userAgent }: Span): Record<string, Value> {
  const isTool = row.method === "tools/call";
  return {
    "mcp.method.name": row.method,
    "mcp.protocol.version": row.protocolVersion,
    "mcp.session.id": row.session,
    "mcp.resource.uri": row.method?.startsWith("resources/") ? row.target : null,
    "jsonrpc.request.id": rpcId === null ? null : String(rpcId),
    "gen_ai.operation.name": isTool ? "execute_tool" : null,
    "gen_ai.tool.name": isTool ? row.target : null,
    "gen_ai.prompt.name": row.method === "prompts/get" ? row.target : null,
    "rpc.response.status_code": row.errorCode === null ? null : String(row.errorCode),
    "error.type": row.isError ? errorTypeOf(row) : null,
    "network.transport": "tcp",
    "network.protocol.name": "http",
    "http.request.method": row.httpMethod,
    "http.response.status_code": row.httpStatus,
    "user_agent.original": userAgent,
    "towpath.request.id": row.requestId ?? row.id,
    "towpath.organization.id": row.organizationId,
    "towpath.project.id": row.projectId,
    "towpath.deployment.id": row.deploymentId,
    "towpath.instance.id": row.instanceId,
    "towpath.principal": row.principal,
    "towpath.outcome": row.outcome,
    "towpath.held_ms": row.heldMs,
    "towpath.server_ms": row.serverMs,
    "towpath.client.name": row.clientName,
    "towpath.client.version": row.clientVersion,
  };
}

/** `tool_error` for a tool that failed, by the convention; the gateway's reason; else the code of the error. */
function errorTypeOf({ refusal, outcome, errorCode, httpStatus }: Span["row"]): string {
  if (refusal !== null) return refusal;
  if (outcome === "tool_error") return "tool_error";
  if (errorCode !== null) return String(errorCode);
  return outcome === "http_error" ? String(httpStatus) : outcome;
}

type Attribute = { key: string; value: Readonly<Record<string, unknown>> };

function attributes(values: Readonly<Record<string, Value>>): Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (value === null || value === undefined) return [];
    if (typeof value === "string") return [{ key, value: { stringValue: value } }];
    return [{ key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } }];
  });
}
