import type { IncomingMessage, ServerResponse } from "node:http";

const exposed = "mcp-session-id, www-authenticate, mcp-protocol-version, retry-after";

/** Whether a request is a browser's question about another one, which the gateway answers by itself. */
export function isPreflight(request: IncomingMessage): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers.origin !== undefined &&
    request.headers["access-control-request-method"] !== undefined
  );
}

/** Allows what was asked for. Never with credentials: callers show tokens, not cookies. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, [
    ...corsHeaders(request.headers.origin),
    "access-control-allow-methods",
    "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers",
    request.headers["access-control-request-headers"] ?? "*",
    "access-control-max-age",
    "7200",
    "content-length",
    "0",
  ]);
  response.end();
}

/** Headers that let a browser's page read an answer; none for a request that came from no page. */
export function corsHeaders(origin: string | undefined): string[] {
  if (origin === undefined) return [];
  return ["access-control-allow-origin", origin, "access-control-expose-headers", exposed, "vary", "Origin"];
}
