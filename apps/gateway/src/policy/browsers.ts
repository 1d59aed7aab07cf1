import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../gateway-error.ts";
import { isLoopbackName } from "../route/server-address.ts";

/**
 * Refuses web pages that have no business here (the specification asks servers to check Origin).
 *
 * On a gateway that only its own machine can reach, the network is the protection, and any web page in the user's
 * browser stands inside of it: only pages of the machine itself and origins by name may call. On a public gateway
 * pages of any site may, as servers protect themselves by tokens, which browsers do not add by themselves.
 * `null` (sandboxed frames, files) could be anybody and is refused.
 *
 * @throws GatewayError 403
 */
export function checkOrigin(
  origin: string | undefined,
  policy: { isLoopback: boolean; allowed: readonly string[] },
): void {
  if (origin === undefined || policy.allowed.includes(origin)) return;
  const url = origin !== "null" && URL.canParse(origin) ? new URL(origin) : null;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  const isWellFormed =
    url !== null && (isWeb ? url.origin === origin.toLowerCase() : /^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/i.test(origin));
  if (isWellFormed && (!isWeb || !policy.isLoopback || isLoopbackName(url.hostname))) return;
  throw new GatewayError(
    "forbidden_origin",
    "Web pages from this origin can't call servers on this instance. Its operator can allow the origin by " +
      "TOWPATH_GATEWAY_ORIGINS.",
  );
}

/** Whether a browser opens a page in its window, which shows it to the person: neither a script's call nor a frame. */
export function isNavigation(request: IncomingMessage): boolean {
  return request.headers["sec-fetch-mode"] === "navigate" && request.headers["sec-fetch-dest"] === "document";
}

const exposed = "mcp-session-id, www-authenticate, mcp-protocol-version, retry-after, towpath-request-id";

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
