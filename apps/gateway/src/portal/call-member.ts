import type { AdmittedRequest } from "../forward/admitted-request.ts";
import type { Recorder } from "../record/recorder.ts";
import type { RouteTable } from "../route/route-table.ts";
import { memberRoute } from "./member-access.ts";
import { askMember, type HandleKnown, type Known, originOf } from "./member-exchange.ts";
import type { MemberIds } from "./member-ids.ts";
import type { MemberSessions } from "./member-sessions.ts";
import type { Message } from "./messages-in.ts";
import { MemberRefused, openSession, sessionHeaders, traceHeader } from "./open-session.ts";
import { answerWith, failed, passOn, type Reached } from "./pass-on.ts";
import { type PortalRequest, protocolHeaders } from "./portal-request.ts";
import type { Portal } from "./portals.ts";
import { isTaskMethod, mayNameTask } from "./tasks.ts";

/** A client's request to a portal, on its way to a server. */
export type Call = {
  parts: {
    routes: RouteTable;
    memberSessions: MemberSessions;
    memberIds: MemberIds;
    handleKnown: HandleKnown;
    recorder: Recorder;
  };
  admitted: AdmittedRequest;
  portal: Portal;
  /** Whether the client speaks 2026-07-28, and which servers do. */
  isModern: boolean;
  speaksModern: (projectId: string) => boolean;
};

type Asked = {
  projectId: string;
  /** What the server calls it. */
  name: string;
  params: Record<string, unknown>;
  /** As the client sent it. */
  message: PortalRequest;
};

/**
 * Passes a call on to its server and the answer to the client as it comes. A server that can't be reached answers with a
 * JSON-RPC error that says which one it is.
 */
export async function callMember(call: Call, asked: Asked): Promise<void> {
  const { admitted } = call;
  const known = knownFor(call, asked.projectId);
  const { id } = asked.message;
  if (!known) {
    return answerWith(call, { jsonrpc: "2.0", id, error: { code: -32602, message: "Not found in this portal." } });
  }
  admitted.exchange.sentAt = performance.now();
  try {
    const isDirect = call.isModern && call.speaksModern(asked.projectId);
    const reached = await (isDirect ? directly(call, known, asked) : inSession(call, known, asked));
    await passOn(call, reached);
  } catch (error) {
    if (admitted.response.destroyed) admitted.exchange.end = "client-closed";
    else if (admitted.response.headersSent) admitted.response.destroy();
    else
      answerWith(call, failed(known, id, error instanceof MemberRefused ? error.message : "it ended the connection."));
  }
}

/** The client's answer to a request of a server, which its id names. False: no server waits for it. */
export async function passResponseOn(call: Call, { id, message }: { id: string; message: Message }): Promise<boolean> {
  const named = call.parts.memberIds.openRequest(id, call.admitted);
  const known = named && knownFor(call, named.projectId);
  if (!named || !known) return false;
  const body = Buffer.from(JSON.stringify({ ...message, id: named.id }));
  const { exchange, response } = call.admitted;
  try {
    const answer = await ask(call, known, { headers: sessionHeaders(call.admitted, named.session), body });
    answer.body.resume();
  } catch (error) {
    if (!response.destroyed) throw error;
    exchange.end = "client-closed";
  }
  return true;
}

function knownFor({ parts, admitted, portal }: Call, projectId: string): Known | null {
  const member = portal.members.find((each) => each.projectId === projectId);
  const route = member && memberRoute(parts.routes, member, { principal: admitted.principal, portal });
  return route ? { route, principal: admitted.principal, via: portal.name, caller: null } : null;
}

function ask({ parts, admitted }: Call, known: Known, sent: { headers: string[]; body: Buffer }) {
  const message = { method: "POST", ...sent } as const;
  return askMember(parts.handleKnown, {
    known: { ...known, caller: admitted.exchange },
    ...{ message, origin: originOf(admitted.request), waiting: admitted.response },
  });
}

/** In the client's own revision, 2026-07-28. */
async function directly(call: Call, known: Known, asked: Asked): Promise<Reached> {
  const { name, params, message } = asked;
  const { id, method } = message;
  const headers = [...protocolHeaders(call.admitted.request, name), ...traceHeader(call.admitted)];
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  const idOfTask = mayNameTask(message) ? (taskId: string) => taskIdForClient(call, asked, taskId) : null;
  return { known, id, session: null, idOfTask, answer: await ask(call, known, { headers, body }) };
}

/** @throws MemberRefused for an id of the server's that is too long */
function taskIdForClient({ parts, admitted }: Call, { projectId, name, message }: Asked, taskId: string): string {
  const { taskId: asked } = message.params;
  if (isTaskMethod(message.method) && typeof asked === "string") return asked;
  const id = parts.memberIds.sealTask({ projectId, tool: name, taskId }, admitted);
  if (id === null) throw new MemberRefused("the id of its task is too long.");
  return id;
}

/**
 * In the session that the portal has at the server for this client; opened now if there is none, or it has ended. A
 * client of 2026-07-28 gets one for this call alone: strangers must not share a session.
 */
async function inSession(call: Call, known: Known, { params, message }: Asked): Promise<Reached> {
  const { parts, admitted } = call;
  const { exchange, response } = admitted;
  const { id, method } = message;
  const key = admitted.session?.key ?? null;
  const { projectId } = known.route;
  const open = () => openSession(parts.handleKnown, admitted, known);
  const own = call.isModern ? withoutMeta(params) : { ...params };
  // The tasks of 2025-11-25, which a portal doesn't offer: nobody could ask for the result.
  delete own.task;
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params: own }));
  for (let attempt = 0; ; attempt++) {
    const { session, tell } = key === null ? await open() : await parts.memberSessions.find(key, projectId, open);
    // In a session, closing the stream doesn't cancel.
    exchange.onCanceled = () => tell({ method: "notifications/cancelled", params: { requestId: id } });
    if (key === null) {
      whenClosed(response, () => {
        if (exchange.end !== "complete") exchange.onCanceled?.();
        tell("end");
      });
    }
    const answer = await ask(call, known, { headers: sessionHeaders(admitted, session), body });
    // The session's process is gone. Nothing was carried out, so once more in a new one.
    if (answer.status !== 404 || attempt > 0) return { known, id, session, idOfTask: null, answer };
    answer.body.resume();
    if (key !== null) parts.memberSessions.forget(key, projectId);
  }
}

function whenClosed(response: AdmittedRequest["response"], then: () => void): void {
  if (response.destroyed) then();
  else response.once("close", then);
}

/** What 2026-07-28 says in each request, a session has said at its begin. */
function withoutMeta(params: Record<string, unknown>): Record<string, unknown> {
  const meta = Object.entries((params._meta ?? {}) as Message).filter(
    ([name]) => !name.startsWith("io.modelcontextprotocol/"),
  );
  return { ...params, _meta: Object.fromEntries(meta) };
}
