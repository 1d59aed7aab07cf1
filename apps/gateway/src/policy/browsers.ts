import type { Call, RequestHead } from "../call/states.ts";

/** Whether a browser opens a page in a window for a person: neither a script's call nor a frame. */
export function isNavigation({ headers }: Pick<RequestHead, "headers">): boolean {
  return headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

/** Whether a person opens a page of a server that does its own sign-in. */
export function isPageOfServer({ target, route, request }: Pick<Call, "target" | "route" | "request">): boolean {
  return !target.isMcp && route?.authMode === "passthrough" && isNavigation(request);
}

const exposed = "mcp-session-id, www-authenticate, mcp-protocol-version, retry-after, towpath-request-id";

/** Headers that allow a page in a browser to read an answer; none for requests without an origin. */
export function corsHeaders(origin: string | undefined): string[] {
  if (origin === undefined) return [];
  return ["access-control-allow-origin", origin, "access-control-expose-headers", exposed, "vary", "Origin"];
}
