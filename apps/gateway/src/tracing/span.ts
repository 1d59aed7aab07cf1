import type { RequestLogRow } from "@towpath/logs";
import type { SpanData, TraceContext } from "@towpath/telemetry";

/** A request that has ended, for the exporter: the content of a span, without payload. */
export type Span = {
  readonly trace: TraceContext;
  readonly rpcId: string | number | null;
  readonly userAgent: string | undefined;
  readonly row: Omit<RequestLogRow, "requestPayload" | "responsePayload">;
};

/**
 * The span of a request. Names and attributes follow the OpenTelemetry semantic conventions for MCP, GenAI, RPC and HTTP;
 * others begin with `towpath.`.
 */
export function spanOf(span: Span): SpanData {
  const { trace, row } = span;
  const startMicros = row.time * 1000;
  return {
    trace,
    name: nameOf(row),
    kind: "server",
    startMicros,
    endMicros: startMicros + Math.max(0, Math.round(row.durationMs * 1000)),
    attributes: attributesOf(span),
    failure: failureOf(row),
  };
}

/** Without a tool's result: payloads are never exported. */
const failureOf = ({ isError, errorMessage, outcome }: Span["row"]): SpanData["failure"] =>
  isError ? { message: outcome === "tool_error" ? null : errorMessage } : null;

/** `{mcp.method.name} {target}`, where the target is a tool or a prompt: resources are too many. */
function nameOf({ method, target, httpMethod }: Span["row"]): string {
  if (method === null) return httpMethod;
  return target !== null && (method === "tools/call" || method === "prompts/get") ? `${method} ${target}` : method;
}

function attributesOf({ row, rpcId, userAgent }: Span): SpanData["attributes"] {
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
