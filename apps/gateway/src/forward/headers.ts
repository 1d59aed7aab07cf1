import type { IncomingHttpHeaders } from "node:http";
import { GatewayError } from "../gateway-error.ts";
import type { Principal } from "../policy/credentials.ts";
import { requestIdHeader } from "../record/request-id.ts";
import { hostOf, type Place, type ServerAddress } from "../route/server-address.ts";
import { cookiesForClient, cookiesForServer, type Site } from "./cookies.ts";
import { identityHeaders } from "./identity.ts";

// Headers pass unchanged, in order and spelling, except for hop-by-hop headers (RFC 9110 §7.6.1), framing, which the
// client library writes again, and those reserved for the platform. MCP clients and servers detect the era by headers,
// so none may be merged, duplicated or normalized.

const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);
const notForServer = new Set([...hopByHop, "content-length", "expect"]);

/** Prefix of headers that only the platform sets, such as the caller's identity (GW-11). */
const reservedPrefix = "towpath";
/** Headers that apply to a whole host, and so to every server on it. `Clear-Site-Data` affects parent domains too. */
const aboutWholeHost = new Set(["alt-svc", "nel", "report-to", "service-worker-allowed", "strict-transport-security"]);
/**
 * For pages that share their host with other servers: they must not act with that host's origin, so there is no
 * `allow-same-origin`. They may navigate: by forms, to other windows, and back to a client's own scheme (`cursor://…`).
 */
const sandboxPolicy = [
  "content-security-policy",
  "sandbox allow-forms allow-scripts allow-popups allow-popups-to-escape-sandbox allow-top-navigation-to-custom-protocols",
];

export const sessionIdHeader = "mcp-session-id";

/** Bit set of the first letters of all header names handled here. */
const handledInitials = [
  ...notForServer,
  ...aboutWholeHost,
  reservedPrefix,
  "access-control-allow-origin",
  "authorization",
  "clear-site-data",
  "cookie",
  "forwarded",
  "host",
  "set-cookie",
  "x-forwarded",
  "x-real-ip",
].reduce((bits, name) => bits | (1 << (name.charCodeAt(0) - 0x61)), 0);

/** Rules out most headers by their first letter, which saves lower-casing and hashing them. */
function needsHandling(name: string): boolean {
  const letter = (name.charCodeAt(0) | 0x20) - 0x61;
  return letter >= 0 && letter < 26 && ((handledInitials >> letter) & 1) === 1;
}

type PassedOn = {
  principal: Principal;
  /** The signed identity of the caller; null: none. */
  assertion: string | null;
  forwarded: readonly string[];
  site: Site;
  /** `forwarded` has our `traceparent`, which replaces the client's. */
  isTraced?: boolean;
};

/**
 * The headers that the server gets, from a request's raw headers. In towpath-cloud mode (`principal.actor` is set)
 * the caller's Authorization is dropped and `towpath-actor*` says who it is; client-sent copies are stripped.
 * `forwarded` replaces the client's forwarding headers, because the server trusts them.
 *
 * @throws GatewayError 404 for a request with two Host headers, 401 for one with two sets of credentials
 */
export function headersForServer(
  raw: readonly string[],
  { principal, assertion, forwarded, site, isTraced = false }: PassedOn,
): string[] {
  const headers: string[] = [];
  let named: Set<string> | null = null;
  let hosts = 0;
  let credentials = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const value = raw[at + 1] ?? "";
    if (!needsHandling(name)) {
      headers.push(name, value);
      continue;
    }
    const lower = name.toLowerCase();
    if (notForServer.has(lower)) {
      if (lower === "connection") named = namedBy(value, named);
      continue;
    }
    if (lower === "host" && ++hosts > 1) {
      throw new GatewayError("unknown_host", "The request names two hosts.");
    }
    if (lower === "authorization" && principal.actor) {
      if (++credentials > 1) throw doubledCredentials();
      continue;
    }
    if (isTraced && lower === "traceparent") continue;
    if (isReserved(lower)) continue;
    if (lower === "cookie") {
      const kept = cookiesForServer(value, site);
      if (kept !== "") headers.push(name, kept);
      continue;
    }
    headers.push(name, value);
  }
  // Ours are added last, so that a client's Connection header can't remove them.
  const passed = named ? withoutNamed(headers, named) : headers;
  passed.push(...forwarded);
  if (principal.actor) passed.push(...identityHeaders(principal, assertion));
  return passed;
}

/** Only the first was checked, and another program might read the second. */
function doubledCredentials(): GatewayError {
  const message = "The request has two Authorization headers. Send one.";
  return new GatewayError("unauthorized", message, {
    "www-authenticate": `Bearer error="invalid_request", error_description="${message}"`,
  });
}

/**
 * Headers that only the platform may set. WSGI doesn't distinguish `_` from `-`, and other servers ignore punctuation
 * altogether, so every name that starts with our prefix is reserved.
 */
function isReserved(lower: string): boolean {
  switch (lower.charCodeAt(0)) {
    case 0x74: // t
      return lower.startsWith(reservedPrefix);
    case 0x66: // f
      return lower === "forwarded";
    case 0x78: {
      // x
      const name = lower.replaceAll("_", "-");
      return name.startsWith("x-forwarded") || name === "x-real-ip";
    }
    default:
      return false;
  }
}

/**
 * The headers that the client gets, from the server's raw headers and the request's id. Where servers share a host,
 * headers that apply to the whole host are dropped, and a sandbox policy gives pages an opaque origin.
 */
export function headersForClient(
  raw: readonly (Buffer | string)[],
  { requestId, extra, site }: { requestId: string; extra: readonly string[]; site: Site },
): string[] {
  const headers: string[] = [];
  const setCookies: string[] = [];
  let setCookieName = "";
  let named: Set<string> | null = null;
  let hasCors = false;
  let type = "";
  for (let at = 0; at < raw.length; at += 2) {
    const name = toText(raw[at]);
    const value = toText(raw[at + 1]);
    if (!needsHandling(name)) {
      headers.push(name, value);
      continue;
    }
    const lower = name.toLowerCase();
    if (hopByHop.has(lower)) {
      if (lower === "connection") named = namedBy(value, named);
      continue;
    }
    if (lower === "set-cookie") {
      setCookieName = name;
      setCookies.push(value);
      continue;
    }
    // Ours is added below.
    if (lower === requestIdHeader) continue;
    if (lower === "clear-site-data" || (site.form === "path" && aboutWholeHost.has(lower))) continue;
    if (lower === "access-control-allow-origin") hasCors = true;
    if (lower === "content-type") type = value;
    headers.push(name, value);
  }
  const passed = named ? withoutNamed(headers, named) : headers;
  if (setCookies.length > 0) {
    for (const cookie of cookiesForClient(setCookies, site)) passed.push(setCookieName, cookie);
  }
  if (site.form === "path" && !(site.isMcp && isOfProtocol(type))) passed.push(...sandboxPolicy);
  passed.push(requestIdHeader, requestId);
  // A server may set CORS headers itself: browsers reject two values.
  if (!hasCors) passed.push(...extra);
  return passed;
}

/** Content types of MCP responses, which browsers show as text. */
function isOfProtocol(type: string): boolean {
  return type.startsWith("application/json") || type.startsWith("text/event-stream");
}

/** A flat list of headers with its session id replaced; removed if `id` is null. */
export function withSessionId(headers: readonly string[], id: string | null): string[] {
  const result: string[] = [];
  let rest = id;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    if (name.length !== sessionIdHeader.length || name.toLowerCase() !== sessionIdHeader) {
      result.push(name, headers[at + 1] ?? "");
      continue;
    }
    if (rest !== null) result.push(name, rest);
    rest = null;
  }
  return result;
}

/** A flat list of headers that requests an uncompressed response. */
export function withoutCompression(headers: readonly string[]): string[] {
  const kept = headers.filter((_, at) => (headers[at - (at % 2)] ?? "").toLowerCase() !== "accept-encoding");
  kept.push("accept-encoding", "identity");
  return kept;
}

function toText(value: Buffer | string | undefined): string {
  return typeof value === "string" ? value : (value?.toString("latin1") ?? "");
}

/** Names listed in Connection are hop-by-hop too; keep-alive and close say nothing about headers. */
function namedBy(value: string, found: Set<string> | null): Set<string> | null {
  if (value === "keep-alive" || value === "close") return found;
  let named = found;
  for (const token of value.toLowerCase().split(",")) {
    const name = token.trim();
    if (name === "" || name === "keep-alive" || name === "close" || name === "host") continue;
    named ??= new Set();
    named.add(name);
  }
  return named;
}

function withoutNamed(headers: string[], named: ReadonlySet<string>): string[] {
  return headers.filter((_, at) => !named.has((headers[at - (at % 2)] ?? "").toLowerCase()));
}

/** One header of a request; undefined if it is absent or has several values. */
export function headerOf({ headers }: { readonly headers: IncomingHttpHeaders }, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * Flat list of headers with a server's public address and its client's (see `clientAddress`): a server that does its
 * own sign-in builds its URLs from them (GW-4), and the harness trusts them.
 */
export function forwardedHeaders(address: ServerAddress, place: Place, client: string): string[] {
  const { port, protocol } = address;
  return [
    "x-forwarded-for",
    client,
    "x-forwarded-proto",
    protocol,
    "x-forwarded-host",
    `${hostOf(address, place).host}${port}`,
  ];
}
