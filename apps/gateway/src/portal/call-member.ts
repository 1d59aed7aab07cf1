import { setTimeout as sleep } from "node:timers/promises";
import { type Rest, undelivered } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import type { ObserverParts } from "../record/observe.ts";
import type { RouteTable } from "../route/route-table.ts";
import { askMember, type CallServer, type Member } from "./ask-member.ts";
import { memberRoute } from "./member-access.ts";
import type { MemberIds } from "./member-ids.ts";
import type { MemberSessions } from "./member-sessions.ts";
import { MemberRefused, openSession, sessionHeaders, traceHeader } from "./open-session.ts";
import { answerWith, failed, passOn, type Reached } from "./pass-on.ts";
import { membersOf, type PortalRequest, protocolHeaders } from "./portal-request.ts";
import type { Portal } from "./portals.ts";
import { isTaskMethod, mayNameTask } from "./tasks.ts";

/** A client's request to a portal, on its way to a server. */
export type PortalCall = {
  parts: ObserverParts & {
    routes: RouteTable;
    memberSessions: MemberSessions;
    memberIds: MemberIds;
    callServer: CallServer;
  };
  admitted: Admitted;
  portal: Portal;
  /** Whether the client uses 2026-07-28, and which servers do. */
  isModern: boolean;
  speaksModern: (projectId: string) => boolean;
};

/** A server that doesn't answer is left alone. */
const tellWithinMs = 1000;

type Asked = {
  projectId: string;
  /** The server's own name for it. */
  name: string;
  params: Record<string, unknown>;
  /** As the client sent it. */
  message: PortalRequest;
};

/**
 * Forwards a call to its server, and the answer to the client as it arrives. If the server can't be reached, the answer
 * is a JSON-RPC error that names it.
 */
export async function callMember(call: PortalCall, asked: Asked): Promise<Rest> {
  const { answer } = call.admitted.received;
  const { response } = call.admitted.call;
  const member = memberFor(call, asked.projectId);
  const { id } = asked.message;
  if (!member) {
    return answerWith(call, { jsonrpc: "2.0", id, error: { code: -32602, message: "Not found in this portal." } });
  }
  answer.delivery = { ...undelivered, sentAt: performance.now() };
  try {
    const isDirect = call.isModern && call.speaksModern(asked.projectId);
    const reached = await (isDirect ? directly(call, member, asked) : inSession(call, member, asked));
    return await passOn(call, reached);
  } catch (error) {
    if (response.destroyed) answer.end = "client-closed";
    else if (response.headersSent) response.destroy();
    else {
      const reason = error instanceof MemberRefused ? error.message : "it ended the connection.";
      return answerWith(call, failed(member, id, reason));
    }
    return "over";
  }
}

/** Forwards the client's answer to a server's request, which its id names. False: no server waits for it. */
export async function passResponseOn(
  call: PortalCall,
  { id, message }: { id: string; message: Record<string, unknown> },
): Promise<boolean> {
  const { admitted } = call;
  const named = call.parts.memberIds.openRequest(id, admitted);
  const member = named && memberFor(call, named.projectId);
  if (!named || !member) return false;
  const body = Buffer.from(JSON.stringify({ ...message, id: named.id }));
  try {
    const answer = await ask(call, member, { headers: sessionHeaders(admitted, named.session), body });
    answer.body.resume();
  } catch (error) {
    if (!admitted.call.response.destroyed) throw error;
    admitted.received.answer.end = "client-closed";
  }
  return true;
}

function memberFor({ parts, admitted, portal }: PortalCall, projectId: string): Member | null {
  const { principal } = admitted;
  const stored = portal.members.find((each) => each.projectId === projectId);
  const route = stored && memberRoute(parts.routes, stored, { principal, portal });
  return route ? { route, principal, via: portal.name } : null;
}

function ask({ parts, admitted }: PortalCall, member: Member, sent: { headers: string[]; body: Buffer }) {
  const { response, address } = admitted.call;
  const { answer } = admitted.received;
  const message = { method: "POST", ...sent } as const;
  return askMember(parts.callServer, { member, message, address, answer, waiting: response });
}

/** In the client's own revision, 2026-07-28. */
async function directly(call: PortalCall, member: Member, asked: Asked): Promise<Reached> {
  const { name, params, message } = asked;
  const { id, method } = message;
  const headers = [...protocolHeaders(call.admitted.call.request, name), ...traceHeader(call.admitted)];
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  const idOfTask = mayNameTask(message) ? (taskId: string) => taskIdForClient(call, asked, taskId) : null;
  const answer = await passedOn(call, ask(call, member, { headers, body }));
  return { member, id, session: null, idOfTask, answer };
}

/** `asking`: the call itself, sent just now. */
function passedOn<Answered>({ admitted }: PortalCall, asking: Answered): Answered {
  admitted.received.answer.markPassedOn();
  return asking;
}

/** @throws MemberRefused if the server's id is too long */
function taskIdForClient({ parts, admitted }: PortalCall, { projectId, name, message }: Asked, taskId: string): string {
  const { taskId: asked } = message.params;
  if (isTaskMethod(message.method) && typeof asked === "string") return asked;
  const id = parts.memberIds.sealTask({ projectId, tool: name, taskId }, admitted);
  if (id === null) throw new MemberRefused("the id of its task is too long.");
  return id;
}

/**
 * In the portal's session at the server for this client, opened now if there is none or it has ended. A client of
 * 2026-07-28 gets one for this call alone: unrelated calls must not share a session.
 */
async function inSession(call: PortalCall, member: Member, { params, message }: Asked): Promise<Reached> {
  const { parts, admitted } = call;
  const { id, method } = message;
  const key = admitted.session?.key ?? null;
  const { projectId } = member.route;
  const open = () => openSession(parts.callServer, admitted, member);
  const own = call.isModern ? withoutMeta(params) : { ...params };
  // A task of 2025-11-25 is the portal's (CAP-2), for servers that have tasks of their own, too.
  delete own.task;
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params: own }));
  for (let attempt = 0; ; attempt++) {
    const { session, send } = key === null ? await open() : await parts.memberSessions.find(key, projectId, open);
    // In a session, closing the stream doesn't cancel.
    const cancel = () => send({ method: "notifications/cancelled", params: { requestId: id } });
    if (!admitted.session) {
      whenClosed(admitted.call.response, () => {
        if (admitted.received.answer.end !== "complete") void cancel();
        void send("end");
      });
    } else if (admitted.kept) {
      const within = () => sleep(tellWithinMs, undefined, { ref: false });
      admitted.kept.cancelAtServer = () => Promise.race([cancel(), within()]);
    } else admitted.session.onCanceled = () => void cancel();
    const answer = await passedOn(call, ask(call, member, { headers: sessionHeaders(admitted, session), body }));
    // The session's process is gone and nothing was executed, so repeat once in a new session.
    if (answer.status !== 404 || attempt > 0) return { member, id, session, idOfTask: null, answer };
    answer.body.resume();
    if (key !== null) parts.memberSessions.forget(key, projectId);
  }
}

function whenClosed(response: Admitted["call"]["response"], then: () => void): void {
  if (response.destroyed) then();
  else response.once("close", then);
}

/** 2026-07-28 sends in each request what a session sends when it begins. */
function withoutMeta(params: Record<string, unknown>): Record<string, unknown> {
  const meta = Object.entries(membersOf(params._meta)).filter(([name]) => !name.startsWith("io.modelcontextprotocol/"));
  return { ...params, _meta: Object.fromEntries(meta) };
}
