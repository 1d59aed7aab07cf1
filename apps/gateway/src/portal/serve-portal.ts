import { isModern } from "@towpath/mcp/manifest";
import type { AdmittedRequest } from "../forward/admitted-request.ts";
import { GatewayError } from "../gateway-error.ts";
import { type SessionIds, sessionNotFound } from "../policy/sessions.ts";
import type { Peers } from "../workers/peers.ts";
import { type Call, callMember, passResponseOn } from "./call-member.ts";
import { holdNotices } from "./notices.ts";
import { capabilitiesOf, initialize, shortVersion } from "./portal-handshake.ts";
import { listPage } from "./portal-lists.ts";
import {
  checkModern,
  modernVersion,
  type PortalMessage,
  type PortalRequest,
  parsePortalMessage,
} from "./portal-request.ts";
import { shownTo, targetOf, unknownText } from "./portal-targets.ts";
import type { Portal, Portals } from "./portals.ts";
import { reply } from "./reply.ts";

export type PortalParts = Call["parts"] & {
  portals: Portals;
  sessionIds: SessionIds;
  peers: Peers;
};

type Serving = { parts: PortalParts; admitted: AdmittedRequest; portal: Portal };

/**
 * Serves a portal (ORG-3): answers handshakes and lists itself, from what its servers were seen to offer, and passes calls on
 * to them. Each such call is checked by the server's own policies, and leaves a row in its log.
 */
export async function servePortal(parts: PortalParts, admitted: AdmittedRequest, portalId: string): Promise<void> {
  const { exchange, session } = admitted;
  if (!exchange.isMcp) throw new GatewayError("unknown_path", "A portal serves its MCP endpoint only, at /mcp.");
  const portal = await parts.portals.find(portalId);
  if (!portal) {
    const text = "The gateway does not know this portal's servers yet. Try again shortly.";
    throw new GatewayError("gateway_not_ready", text, { "retry-after": "2" });
  }
  if (session && parts.memberSessions.hasEnded(session.key)) throw sessionNotFound();
  switch (exchange.httpMethod) {
    case "POST":
      return post({ parts, admitted, portal }, parsePortalMessage(admitted.body));
    case "GET":
      if (!session) return reply(admitted, { status: 405 });
      return holdNotices(parts, admitted, { portal, subscription: null });
    case "DELETE":
      if (!session) return reply(admitted, { status: 405 });
      parts.memberSessions.end(session.key);
      // The next request may reach another process, which must refuse it. One that hangs is not waited for.
      await parts.peers.ask({ kind: "portal-session", session: session.key, level: null });
      return reply(admitted, { status: 200 });
    default:
      return reply(admitted, { status: 405 });
  }
}

async function post(serving: Serving, message: PortalMessage): Promise<void> {
  const { admitted, parts, portal } = serving;
  const { exchange, session } = admitted;
  const isModernCall = exchange.peek.era === "modern";
  const opens = !isModernCall && message.kind === "request" && message.method === "initialize";
  if (message.kind === "invalid") return reply(admitted, { status: 400 }, failure(null, -32600, message.reason));
  if (opens) return initialize(parts.sessionIds, admitted, { message, portal });
  if (!isModernCall && !session) {
    const text = "Initialize a session first: Mcp-Session-Id is missing.";
    return reply(admitted, { status: 400 }, failure(null, -32600, text));
  }
  if (message.kind === "response") {
    if (!isModernCall && (await passResponseOn(callOf(serving), message))) {
      if (exchange.end !== "client-closed") reply(admitted, { status: 202 });
      return;
    }
    const text = "This id is not of a request that the portal made of this client.";
    return reply(admitted, { status: 400 }, failure(null, -32600, text));
  }
  if (message.kind === "notification") {
    // `initialized` was said by the portal, and `cancelled` reaches the call that it is about (Exchange.onCanceled).
    const { method, params } = message;
    if (session && method === "notifications/roots/list_changed") {
      parts.memberSessions.tell(session.key, { method, params });
    }
    return reply(admitted, { status: 202 });
  }
  const refused = isModernCall ? checkModern(admitted.request, message) : null;
  if (refused) {
    return reply(admitted, { status: 400 }, failure(message.id, refused.code, refused.message, refused.data));
  }
  if (message.method === "subscriptions/listen" && isModernCall) {
    if (typeof message.params.notifications !== "object" || message.params.notifications === null) {
      return reply(admitted, { status: 200 }, failure(message.id, -32602, "params.notifications is missing."));
    }
    return holdNotices(parts, admitted, { portal, subscription: message });
  }
  return answer(serving, message, isModernCall);
}

async function answer(serving: Serving, message: PortalRequest, isModernCall: boolean): Promise<void> {
  const { admitted, parts, portal } = serving;
  const isShown = shownTo({ routes: parts.routes, admitted, portal });
  const own = isModernCall ? modernAnswer(portal, message) : await legacyAnswer(serving, message);
  const result = own ?? listPage({ catalog: portal.catalog, isShown }, message.method, message.params.cursor);
  if (result === null) {
    return reply(admitted, { status: 200 }, failure(message.id, -32602, "This cursor is not from this list."));
  }
  if (result) {
    const more = isModernCall ? { resultType: "complete", ...fresh, _meta: metaOf(portal) } : {};
    return reply(admitted, { status: 200 }, { jsonrpc: "2.0", id: message.id, result: { ...result, ...more } });
  }
  const openTask = isModernCall ? (id: string) => parts.memberIds.openTask(id, admitted) : null;
  const target = targetOf({ portal, isShown, openTask }, message);
  if (target === undefined) {
    const text = `Method not found: ${message.method.slice(0, 100)}`;
    return reply(admitted, { status: isModernCall ? 404 : 200 }, failure(message.id, -32601, text));
  }
  if (target === null) {
    const data = message.method === "resources/read" ? { uri: message.params.uri } : undefined;
    return reply(admitted, { status: 200 }, failure(message.id, -32602, unknownText(message), data));
  }
  await callMember(callOf(serving), { ...target, message });
}

/** Clients may not keep these: what a caller is shown can change at any time. */
const fresh = { ttlMs: 0, cacheScope: "private" };
const metaOf = (portal: Portal) => ({
  "io.modelcontextprotocol/serverInfo": { name: portal.name, version: shortVersion(portal) },
});

function modernAnswer(portal: Portal, { method }: PortalRequest) {
  if (method !== "server/discover") return undefined;
  const { instructions } = portal;
  return {
    supportedVersions: [modernVersion],
    capabilities: capabilitiesOf("modern"),
    ...(instructions !== null && { instructions }),
  };
}

async function legacyAnswer({ parts, admitted: { session } }: Serving, { method, params }: PortalRequest) {
  if (method === "ping") return {};
  if (method !== "logging/setLevel" || !session) return undefined;
  const level = String(params.level);
  parts.memberSessions.setLevel(session.key, level);
  await parts.peers.ask({ kind: "portal-session", session: session.key, level });
  return {};
}

const callOf = ({ parts, admitted, portal }: Serving): Call => ({
  ...{ parts, admitted, portal },
  isModern: admitted.exchange.peek.era === "modern",
  speaksModern: (projectId) => {
    const member = portal.members.find((each) => each.projectId === projectId);
    return isModern(member?.manifest?.protocolVersion ?? "");
  },
});

function failure(id: string | number | null, code: number, message: string, data?: unknown) {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
