import type { Call } from "../call/states.ts";
import { corsHeaders } from "./browsers.ts";
import type { Policy } from "./policy.ts";

/**
 * Answers a browser's question about another request, which servers never see. Allows what was asked for. Never with
 * credentials: callers show tokens, not cookies.
 */
export const preflightPolicy: Policy<unknown, Pick<Call, "request" | "response">> = (_parts, { request, response }) => {
  const { headers } = request;
  const { origin } = headers;
  if (request.method !== "OPTIONS" || origin === undefined) return "passed";
  if (headers["access-control-request-method"] === undefined) return "passed";
  response.writeHead(204, [
    ...corsHeaders(origin),
    "access-control-allow-methods",
    "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers",
    headers["access-control-request-headers"] ?? "*",
    "access-control-max-age",
    "7200",
    "content-length",
    "0",
  ]);
  response.end();
  return "answered";
};
