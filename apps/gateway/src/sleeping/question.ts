import { answerKey, isModern, listMethods } from "@towpath/mcp/manifest";
import { readMessages } from "@towpath/mcp/peek";
import { z } from "zod";
import type { Admitted, RequestHead } from "../call/states.ts";
import { headerOf, sessionIdHeader } from "../forward/headers.ts";
import type { OpenedSession } from "../policy/sessions.ts";

/** A request that a recorded answer may answer. */
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
  /** The stream for the server's unsolicited messages. */
  | { kind: "stream"; version: VersionOf | null }
  /** The end of a session. */
  | { kind: "end" };

/** The revision that a client requested, or the one that was agreed on. */
export type VersionOf = { requested: string } | { agreed: string };

/** Larger requests than any handshake or list needs go to the server. */
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

/**
 * The question of a request, if it is one of the few that don't need the server, exactly as clients send them. Null:
 * the server answers it, also to refuse odd requests.
 */
export function questionOf(admitted: Admitted): Question | null {
  const { call, session, body } = admitted;
  const { request, target } = call;
  if (!target.isMcp || target.path !== "/mcp") return null;
  // A session that a process of the server holds is answered by it.
  if (session && session.session.instanceId !== null) return null;
  if (request.method === "POST") return posted(admitted);
  if (body.length > 0) return null;
  if (request.method === "DELETE") return session && { kind: "end" };
  const asksForStream = accepts(request, "text/event-stream") && headerOf(request, "last-event-id") === undefined;
  return request.method === "GET" && asksForStream ? withoutServer({ kind: "stream" }, request, session) : null;
}

/** In a session, or without one if the request names its revision. */
function withoutServer<Kind extends "notification" | "stream">(
  { kind }: { kind: Kind },
  request: RequestHead,
  session: OpenedSession | null,
): { kind: Kind; version: VersionOf | null } | null {
  const agreed = headerOf(request, "mcp-protocol-version");
  if (session) return { kind, version: null };
  return agreed === undefined || isModern(agreed) ? null : { kind, version: { agreed } };
}

function posted({ call, session, peek, body }: Admitted): Question | null {
  const { request } = call;
  const { method } = peek;
  if (method === null || body.length > maxBodyBytes || !isPlainJson(request)) return null;
  if (peek.kind === "notification") {
    return notifications.has(method) ? withoutServer({ kind: "notification" }, request, session) : null;
  }
  const known = peek.era === "modern" ? modernMethods : legacyMethods;
  if (peek.kind !== "request" || !known.has(method)) return null;
  const message = messageIn(body);
  if (message === null) return null;
  return peek.era === "modern" ? modern(request, message) : legacy(request, message, session);
}

const messageSchema = z.strictObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.int()]).transform((id) => JSON.stringify(id)),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).default({}),
});
type Message = z.infer<typeof messageSchema>;

function messageIn(body: Buffer): Message | null {
  if (readMessages(body) === null) return null;
  return messageSchema.safeParse(JSON.parse(body.toString("utf8"))).data ?? null;
}

function legacy(request: RequestHead, { id, method, params }: Message, session: OpenedSession | null) {
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

function modern(request: RequestHead, { id, method, params }: Message): Question | null {
  const meta = isObject(params._meta) ? params._meta : {};
  const agreed = meta["io.modelcontextprotocol/protocolVersion"];
  if (typeof agreed !== "string" || !isModern(agreed) || headerOf(request, sessionIdHeader) !== undefined) return null;
  if (!isObject(meta["io.modelcontextprotocol/clientCapabilities"])) return null;
  if (headerOf(request, "mcp-protocol-version") !== agreed || headerOf(request, "mcp-method") !== method) return null;
  const key = keyOf(method, params);
  if (key === null || headerOf(request, "mcp-name") !== undefined) return null;
  return { kind: "request", id, key, version: { agreed }, opening: null };
}

/** Null for parameters that no recorded answer covers. */
function keyOf(method: string, { cursor, _meta: _, ...rest }: Record<string, unknown>): string | null {
  if (Object.keys(rest).length > 0) return null;
  if (cursor === undefined) return answerKey(method);
  const isList = method.endsWith("/list");
  return isList && typeof cursor === "string" ? answerKey(method, cursor) : null;
}

/** Servers refuse a POST that doesn't accept both kinds of answers. */
function isPlainJson(request: RequestHead): boolean {
  const type = headerOf(request, "content-type") ?? "";
  const encoding = headerOf(request, "content-encoding");
  return (
    /^application\/json\s*(;|$)/i.test(type) &&
    (encoding === undefined || encoding === "identity") &&
    accepts(request, "application/json") &&
    accepts(request, "text/event-stream")
  );
}

function accepts(request: RequestHead, type: string): boolean {
  return (headerOf(request, "accept") ?? "").split(",").some((each) => each.split(";", 1)[0]?.trim() === type);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
