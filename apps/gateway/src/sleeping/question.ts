import type { IncomingMessage } from "node:http";
import { answerKey, isModern, listMethods } from "@towpath/mcp/manifest";
import { readMessages } from "@towpath/mcp/peek";
import { headerOf, sessionIdHeader } from "../forward/headers.ts";
import type { SessionClaim } from "../policy/sessions.ts";
import type { Exchange } from "../record/exchange.ts";

/** What a request asks that a recorded answer may say. */
export type Question =
  | {
      kind: "request";
      /** JSON text of the request's id. */
      id: string;
      /** The answer's key in the conversation of `version`. */
      key: string;
      version: VersionOf;
      /** JSON of the parameters of `initialize`; null for anything else. */
      opening: string | null;
    }
  /** A notification that changes nothing while the server is asleep. `version`: null in a session. */
  | { kind: "notification"; version: VersionOf | null }
  /** The stream for what a server says unasked. */
  | { kind: "stream"; version: VersionOf | null }
  /** The end of a session. */
  | { kind: "end" };

/** The revision that a conversation was asked for, or the one that it agreed on. */
export type VersionOf = { requested: string } | { agreed: string };

/** Larger requests than any handshake or list needs are the server's. */
const maxBodyBytes = 16 * 1024;
/** Larger parameters of `initialize` would not fit into a session id. */
const maxOpeningBytes = 2000;

const legacyMethods: ReadonlySet<string> = new Set(["initialize", "ping", ...listMethods]);
const modernMethods: ReadonlySet<string> = new Set(["server/discover", ...listMethods]);
/** An answer given while the server sleeps is complete, so there is nothing to cancel. */
const notifications: ReadonlySet<string> = new Set([
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/roots/list_changed",
]);

type Asked = { request: IncomingMessage; exchange: Exchange; path: string; session: SessionClaim | null };

/**
 * What a request asks, if it is one of the few that don't need the server: exactly as clients send them. Everything else
 * is the server's to answer, refusals of odd requests included: null.
 */
export function questionOf({ request, exchange, path, session }: Asked): Question | null {
  if (!exchange.isMcp || path !== "/mcp") return null;
  // A session that a process of the server holds is answered by it.
  if (session && session.session.instanceId !== null) return null;
  if (request.method === "POST") return posted(request, exchange, session);
  if (exchange.body?.length !== 0) return null;
  if (request.method === "DELETE") return session && { kind: "end" };
  const wantsStream = accepts(request, "text/event-stream") && exchange.lastEventId === undefined;
  if (request.method !== "GET" || !wantsStream) return null;
  return withoutServer({ kind: "stream" }, request, session);
}

/** In a session, or without one where the request says its revision. */
function withoutServer<Kind extends "notification" | "stream">(
  { kind }: { kind: Kind },
  request: IncomingMessage,
  session: SessionClaim | null,
): { kind: Kind; version: VersionOf | null } | null {
  const agreed = headerOf(request, "mcp-protocol-version");
  if (session) return { kind, version: null };
  return agreed === undefined || isModern(agreed) ? null : { kind, version: { agreed } };
}

function posted(request: IncomingMessage, exchange: Exchange, session: SessionClaim | null): Question | null {
  const { peek, body } = exchange;
  const { method } = peek;
  if (method === null || body === null || body.length > maxBodyBytes) return null;
  if (!isPlainJson(request)) return null;
  if (peek.kind === "notification") {
    return notifications.has(method) ? withoutServer({ kind: "notification" }, request, session) : null;
  }
  const known = peek.era === "modern" ? modernMethods : legacyMethods;
  if (peek.kind !== "request" || !known.has(method)) return null;
  const message = messageIn(body);
  if (message === null) return null;
  return peek.era === "modern" ? modern(request, message) : legacy(request, message, session);
}

type Message = { id: string; method: string; params: Record<string, unknown> };

function messageIn(body: Buffer): Message | null {
  if (readMessages(body) === null) return null;
  const { id, jsonrpc, method, params = {}, ...rest } = JSON.parse(body.toString("utf8"));
  const isId = typeof id === "string" || Number.isSafeInteger(id);
  if (jsonrpc !== "2.0" || !isId || !isObject(params) || Object.keys(rest).length > 0) return null;
  return { id: JSON.stringify(id), method, params };
}

function legacy(request: IncomingMessage, { id, method, params }: Message, session: SessionClaim | null) {
  if (method === "initialize") {
    const requested = params.protocolVersion;
    if (session || typeof requested !== "string" || headerOf(request, sessionIdHeader) !== undefined) return null;
    const opening = JSON.stringify(params);
    if (
      Buffer.byteLength(opening) > maxOpeningBytes ||
      !isObject(params.clientInfo) ||
      !isObject(params.capabilities)
    ) {
      return null;
    }
    return { kind: "request", id, key: answerKey(method), version: { requested }, opening } as const;
  }
  const key = keyOf(method, params);
  const stated = headerOf(request, "mcp-protocol-version");
  const agreed = session?.session.protocolVersion ?? stated;
  // From 2025-06-18 on the header is required; earlier clients don't know it.
  if (key === null || typeof agreed !== "string" || (stated ?? agreed) !== agreed) return null;
  return { kind: "request", id, key, version: { agreed }, opening: null } as const;
}

function modern(request: IncomingMessage, { id, method, params }: Message): Question | null {
  const meta = isObject(params._meta) ? params._meta : {};
  const agreed = meta["io.modelcontextprotocol/protocolVersion"];
  if (typeof agreed !== "string" || !isModern(agreed) || headerOf(request, sessionIdHeader) !== undefined) return null;
  if (!isObject(meta["io.modelcontextprotocol/clientCapabilities"])) return null;
  if (headerOf(request, "mcp-protocol-version") !== agreed || headerOf(request, "mcp-method") !== method) return null;
  const key = keyOf(method, params);
  if (key === null || headerOf(request, "mcp-name") !== undefined) return null;
  return { kind: "request", id, key, version: { agreed }, opening: null };
}

/** Null for parameters that a recorded answer knows nothing of. */
function keyOf(method: string, { cursor, _meta: _, ...rest }: Record<string, unknown>): string | null {
  if (Object.keys(rest).length > 0) return null;
  if (cursor === undefined) return answerKey(method);
  const isList = method.endsWith("/list");
  return isList && typeof cursor === "string" ? answerKey(method, cursor) : null;
}

/** Servers refuse a POST that doesn't accept both kinds of answers. */
function isPlainJson(request: IncomingMessage): boolean {
  const type = headerOf(request, "content-type") ?? "";
  const encoding = headerOf(request, "content-encoding");
  return (
    /^application\/json\s*(;|$)/i.test(type) &&
    (encoding === undefined || encoding === "identity") &&
    accepts(request, "application/json") &&
    accepts(request, "text/event-stream")
  );
}

function accepts(request: IncomingMessage, type: string): boolean {
  return (headerOf(request, "accept") ?? "").split(",").some((each) => each.split(";", 1)[0]?.trim() === type);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
