import { decodeHeaderValue, readMessages, type StatedMessages } from "@towpath/mcp/peek";
import type { RequestHead } from "../call/states.ts";
import { headerOf } from "../forward/headers.ts";
import { GatewayError } from "../gateway-error.ts";
import { quotedName } from "../wire/quoted-name.ts";

/**
 * Checks a request to a server that allows only some tools (GW-15), at any path: servers may serve MCP at several.
 * Returns whether the answer can hold a list of tools, which must then be filtered.
 *
 * @throws GatewayError for a call of another tool, and for a body that the server could read differently
 */
export function checkTools(
  tools: readonly string[],
  { request, isMcp, body }: { request: RequestHead; isMcp: boolean; body: Buffer },
): boolean {
  // A legacy client resumes an answer by GET, lists included.
  if (body.length === 0) return request.method === "GET";
  const stated = readMessages(body);
  if (isEncoded(request) || stated === null) {
    if (!isMcp && !isJson(request) && !looksLikeJson(body)) return false;
    throw unreadable("its body is not plain UTF-8 JSON in which `method`, `params` and `name` are given once");
  }
  checkHeaders(stated, request);
  for (const { method, name } of stated.messages) {
    if (method === "tools/call" && (name === null || !tools.includes(name))) throw toolNotAllowed(name);
  }
  return stated.messages.some(({ method }) => method === "tools/list");
}

/** Servers of 2026-07-28 may rely on the headers, so headers and body of a call must agree. */
function checkHeaders({ isBatch, messages }: StatedMessages, request: RequestHead): void {
  const method = headerOf(request, "mcp-method");
  const name = headerOf(request, "mcp-name");
  if (method === undefined && name === undefined) return;
  const calls = messages.some((message) => message.method === "tools/call");
  if (!calls && method !== "tools/call") return;
  const [message] = messages;
  const agrees =
    !isBatch &&
    (method === undefined || method === message?.method) &&
    (name === undefined || decodeHeaderValue(name) === message?.name);
  if (!agrees) throw unreadable("its headers Mcp-Method and Mcp-Name don't say what its body says");
}

function isEncoded(request: RequestHead): boolean {
  return (headerOf(request, "content-encoding") ?? "identity").toLowerCase() !== "identity";
}

function isJson(request: RequestHead): boolean {
  return /json/i.test(headerOf(request, "content-type") ?? "json");
}

/** By its bytes, in any of Python's encodings: a server that serves MCP at another path may ignore the type. */
function looksLikeJson(body: Buffer): boolean {
  const first = body.find((byte) => !insignificant.has(byte));
  return first === 0x7b || first === 0x5b;
}

/** White space, zeros of UTF-16 and UTF-32, and byte order marks. */
const insignificant: ReadonlySet<number> = new Set([0x00, 0x09, 0x0a, 0x0d, 0x20, 0xfe, 0xff, 0xef, 0xbb, 0xbf]);

/** With HTTP status 200, as servers answer for unknown tools: on a 403 some clients sign in again or hang. */
function toolNotAllowed(name: string | null): GatewayError {
  const called = name === null ? "A tool call without a name" : `The tool ${quotedName(name)}`;
  return new GatewayError(
    "tool_not_allowed",
    `${called} is not allowed on this server. tools/list shows those that are; an admin of the server's organization can ` +
      "change them on its Access page.",
  );
}

function unreadable(reason: string): GatewayError {
  return new GatewayError(
    "call_unclear",
    `This server allows only some of its tools, and the gateway can't tell which one this request calls: ${reason}.`,
  );
}
