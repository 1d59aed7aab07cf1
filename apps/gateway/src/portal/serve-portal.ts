import { isModern } from "@towpath/mcp/manifest";
import type { Rest } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";
import { type SessionIds, sessionNotFound } from "../policy/sessions.ts";
import { firstVersionWithTasks } from "../tasks/task-era.ts";
import type { Announce } from "../workers/news.ts";
import { callMember, type PortalCall, passResponseOn } from "./call-member.ts";
import { holdNotices, type NoticeParts } from "./notices.ts";
import { capabilitiesOf, initialize, shortVersion } from "./portal-handshake.ts";
import { listPage } from "./portal-lists.ts";
import {
  checkModern,
  modernVersion,
  type PortalMessage,
  type PortalRequest,
  parsePortalMessage,
  type Refused,
} from "./portal-request.ts";
import { shownTo, targetOf, unknownText } from "./portal-targets.ts";
import type { Portal } from "./portals.ts";
import { replyWith } from "./reply.ts";

export type PortalParts = PortalCall["parts"] &
  NoticeParts & {
    sessionIds: SessionIds;
    announce: Announce;
  };

type Serving = { parts: PortalParts; admitted: Admitted; portal: Portal };

/**
 * Serves a portal (ORG-3): answers handshakes and lists itself, from the recorded lists of its servers, and forwards
 * calls to them. The server's own policies check each call, which leaves a row in its log.
 */
export async function servePortal(parts: PortalParts, admitted: Admitted, portalId: string): Promise<Rest> {
  const { received, session } = admitted;
  if (!received.isMcp) throw new GatewayError("unknown_path", "A portal serves its MCP endpoint only, at /mcp.");
  const portal = await parts.portals.find(portalId);
  if (!portal) {
    const text = "The gateway does not know this portal's servers yet. Try again shortly.";
    throw new GatewayError("gateway_not_ready", text, { "retry-after": "2" });
  }
  if (session && parts.memberSessions.hasEnded(session.key)) throw sessionNotFound();
  switch (received.method) {
    case "POST":
      return post({ parts, admitted, portal }, parsePortalMessage(admitted.body));
    case "GET":
      if (!session) return replyWith(admitted, { status: 405 });
      return holdNotices(parts, admitted, { portal, subscription: null });
    case "DELETE":
      if (!session) return replyWith(admitted, { status: 405 });
      parts.memberSessions.end(session.key);
      // The next request may reach another process, which must refuse it. A process that hangs is not waited for.
      await parts.announce({ kind: "portal-session", session: session.key, level: null });
      return replyWith(admitted, { status: 200 });
    default:
      return replyWith(admitted, { status: 405 });
  }
}

async function post(serving: Serving, message: PortalMessage): Promise<Rest> {
  const { admitted, parts, portal } = serving;
  const { session, received } = admitted;
  const isModernCall = admitted.peek.era === "modern";
  switch (message.kind) {
    case "invalid":
      return refuse(admitted, 400, { code: -32600, message: message.reason });
    case "request":
      if (isModernCall) return modernRequest(serving, message);
      if (message.method === "initialize") return initialize(parts.sessionIds, admitted, { message, portal });
      if (!session) return refuse(admitted, 400, withoutSession);
      return answer(serving, message, await legacyAnswer(serving, message));
    case "response":
      if (!isModernCall && !session) return refuse(admitted, 400, withoutSession);
      if (isModernCall || !(await passResponseOn(callOf(serving), message))) {
        const text = "This id is not of a request that the portal made of this client.";
        return refuse(admitted, 400, { code: -32600, message: text });
      }
      return received.answer.end === "client-closed" ? "over" : replyWith(admitted, { status: 202 });
    case "notification":
      if (!isModernCall && !session) return refuse(admitted, 400, withoutSession);
      // The portal has sent `initialized`, and `cancelled` reaches its call (SessionCall.onCanceled).
      if (session && message.method === "notifications/roots/list_changed") {
        parts.memberSessions.send(session.key, { method: message.method, params: message.params });
      }
      return replyWith(admitted, { status: 202 });
  }
}

const withoutSession = { code: -32600, message: "Initialize a session first: Mcp-Session-Id is missing." };

function modernRequest(serving: Serving, message: PortalRequest): Promise<Rest> | Rest {
  const { admitted, parts, portal } = serving;
  const { id, params } = message;
  const refused = checkModern(admitted.call.request, message);
  if (refused) return refuse(admitted, 400, refused, id);
  if (message.method !== "subscriptions/listen") return answer(serving, message, modernAnswer(portal, message));
  if (typeof params.notifications !== "object" || params.notifications === null) {
    return refuse(admitted, 200, { code: -32602, message: "params.notifications is missing." }, id);
  }
  return holdNotices(parts, admitted, { portal, subscription: message });
}

/** `own`: the portal's own answer, other than a list; undefined: it has none. */
function answer(serving: Serving, message: PortalRequest, own: object | undefined): Promise<Rest> | Rest {
  const { admitted, parts, portal } = serving;
  const { id, method, params } = message;
  const isModernCall = admitted.peek.era === "modern";
  const isShown = shownTo({ routes: parts.routes, admitted, portal });
  const hasTasks = mayHaveTasks(admitted) ? (projectId: string) => keepsResults(serving, projectId) : null;
  const result = own ?? listPage({ catalog: portal.catalog, isShown, hasTasks }, method, params.cursor);
  if (result === null)
    return refuse(admitted, 200, { code: -32602, message: "This cursor is not from this list." }, id);
  if (result) {
    const more = isModernCall ? { resultType: "complete", ...fresh, _meta: metaOf(portal) } : {};
    return replyWith(admitted, { status: 200 }, { jsonrpc: "2.0", id, result: { ...result, ...more } });
  }
  const openTask = isModernCall ? (task: string) => parts.memberIds.openTask(task, admitted) : null;
  const target = targetOf({ portal, isShown, openTask }, message);
  if (target) return callMember(callOf(serving), { ...target, message });
  if (target === undefined) {
    const text = `Method not found: ${method.slice(0, 100)}`;
    return refuse(admitted, isModernCall ? 404 : 200, { code: -32601, message: text }, id);
  }
  const data = method === "resources/read" ? { uri: params.uri } : undefined;
  return refuse(admitted, 200, { code: -32602, message: unknownText(message), data }, id);
}

const mayHaveTasks = ({ peek, session }: Admitted) =>
  peek.era === "legacy" && (session?.session.protocolVersion ?? "") >= firstVersionWithTasks;

/** A server's own setting counts for calls through portals, too. */
function keepsResults({ parts, portal }: Serving, projectId: string): boolean {
  const label = portal.members.find((member) => member.projectId === projectId)?.label;
  return label !== undefined && (parts.routes.find(label)?.keepResultsMinutes ?? 0) > 0;
}

/** Clients must not cache these: the caller's access can change at any time. */
const fresh = { ttlMs: 0, cacheScope: "private" };
const metaOf = (portal: Portal) => ({
  "io.modelcontextprotocol/serverInfo": { name: portal.name, version: shortVersion(portal) },
});

function modernAnswer(portal: Portal, { method }: PortalRequest) {
  if (method !== "server/discover") return undefined;
  const { instructions } = portal;
  return {
    supportedVersions: [modernVersion],
    capabilities: capabilitiesOf(modernVersion),
    ...(instructions !== null && { instructions }),
  };
}

async function legacyAnswer({ parts, admitted: { session } }: Serving, { method, params }: PortalRequest) {
  if (method === "ping") return {};
  if (method !== "logging/setLevel" || !session) return undefined;
  const level = String(params.level);
  parts.memberSessions.setLevel(session.key, level);
  await parts.announce({ kind: "portal-session", session: session.key, level });
  return {};
}

const callOf = ({ parts, admitted, portal }: Serving): PortalCall => ({
  parts,
  admitted,
  portal,
  isModern: admitted.peek.era === "modern",
  speaksModern: (projectId) => {
    const member = portal.members.find((each) => each.projectId === projectId);
    return isModern(member?.manifest?.protocolVersion ?? "");
  },
});

/** Answers with a JSON-RPC error. `id`: null if it was no request. */
function refuse(admitted: Admitted, status: number, error: Refused, id: string | number | null = null): Rest {
  return replyWith(admitted, { status }, { jsonrpc: "2.0", id, error });
}
