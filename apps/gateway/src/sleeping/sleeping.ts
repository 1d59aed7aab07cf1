import { randomUUID } from "node:crypto";
import { type Conversation, isModern, type RecordedAnswers, streamKey } from "@towpath/mcp/manifest";
import type { Logger } from "pino";
import type { AdmittedRequest } from "../forward/admitted-request.ts";
import { sessionIdHeader } from "../forward/headers.ts";
import type { Leases } from "../forward/leases.ts";
import { answeredAsleep } from "../forward/start-attempts.ts";
import type { Reading } from "../platform/metrics.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { type Session, type SessionIds, sessionKeyOf, sessionNotFound } from "../policy/sessions.ts";
import { createToolListFilter } from "../policy/tool-lists.ts";
import type { LoadRecordedAnswers } from "../read-model/recorded-answers.ts";
import { deploymentOf, type Route } from "../read-model/routes.ts";
import { answersOf, type Exchange } from "../record/exchange.ts";
import { requestIdHeader } from "../record/request-id.ts";
import type { Peers } from "../workers/peers.ts";
import { AnswerCache } from "./answer-cache.ts";
import { HeldStreams } from "./held-streams.ts";
import { OpenedSessions } from "./opened-sessions.ts";
import { type Question, questionOf, type VersionOf } from "./question.ts";

export type Sleeping = {
  /**
   * Answers a request in the place of its server, if the server is asleep and its build has recorded the answer (GW-12).
   * False: the request is the server's. A server that runs always answers itself. Call it for routes with
   * `answersAsleep` and for sessions that were opened asleep, after all policies: refusals are the same either way.
   */
  answer: (admitted: AdmittedRequest) => Promise<boolean>;
  /** Loads recorded answers before they are needed. Call it whenever routes were loaded. Never rejects. */
  loadAhead: (routes: readonly Route[]) => Promise<void>;
  /** Which processes hold the sessions that were opened asleep. */
  sessions: OpenedSessions;
  readings: Reading[];
};

type Parts = {
  load: LoadRecordedAnswers;
  log: Logger;
  /** The part of the memory that is this process's. */
  share: number;
  leases: Leases;
  sessionIds: SessionIds;
  peers: Peers;
};

export function createSleeping({ load, log, share, leases, sessionIds, peers }: Parts): Sleeping {
  const answers = new AnswerCache({ load, log, share });
  const streams = new HeldStreams();
  const sessions = new OpenedSessions({ streams, peers });
  let answered = 0;

  /**
   * What to answer; null: the request is the server's.
   *
   * @throws GatewayError 404 when the process that held its session is gone
   */
  async function decide(admitted: AdmittedRequest): Promise<Reply | "hold" | null> {
    const { exchange } = admitted;
    const { route } = exchange;
    const deploymentId = route.answersAsleep ? deploymentOf(route) : null;
    // A client whose session is of an earlier rollout has read the lists of that one.
    if (deploymentId === null || exchange.deploymentId !== deploymentId) return null;
    const question = questionOf(admitted);
    if (question === null) return null;
    const state = await leases.stateOf(deploymentId);
    const { session } = admitted;
    if (state === "stopped" && session && sessions.instanceOf(session.key) !== null) throw sessionNotFound();
    // A frozen process may hold the session, which must end there.
    if (state === "ready" || (state === "asleep" && question.kind === "end")) return null;
    const recorded = await answers.of(deploymentId);
    return recorded && replyTo(sessionIds, admitted, { question, recorded, deploymentId });
  }

  return {
    async answer(admitted) {
      const { exchange, response, session } = admitted;
      const reply = await decide(admitted);
      if (reply === null) {
        // The request opens the session at the server.
        if (session && session.session.opening !== null) sessions.announce(session.key);
        return false;
      }
      if (response.destroyed) return leave(exchange);
      if (reply === "hold") return !(await holdStream(streams, admitted));
      send(admitted, reply);
      answered++;
      return true;
    },
    loadAhead: (routes) => answers.loadAhead(routes),
    sessions,
    readings: [
      {
        name: "answers_asleep",
        help: "Requests answered for a sleeping server",
        kind: "counter",
        read: () => answered,
      },
      { name: "answers_bytes", help: "Bytes of recorded answers in memory", kind: "gauge", read: () => answers.bytes },
      { name: "streams_held", help: "Sessions with a stream but no server", kind: "gauge", read: () => streams.size },
    ],
  };
}

type Reply = { status: number; body: Buffer; sessionId: string | null };

/** The client has disconnected. */
function leave(exchange: Exchange): true {
  exchange.end = "client-closed";
  return true;
}

/** Resolves to true when the stream is to be forwarded; its head has been sent. */
async function holdStream(streams: HeldStreams, { request, response, exchange, session }: AdmittedRequest) {
  exchange.status = 200;
  exchange.startAttempt = answeredAsleep;
  response.writeHead(200, [
    ...["content-type", "text/event-stream", "cache-control", "no-cache, no-transform"],
    ...[requestIdHeader, exchange.id, ...(session ? [sessionIdHeader, session.id] : [])],
    ...corsHeaders(request.headers.origin),
  ]);
  response.flushHeaders();
  // Without a session there is nothing that could wake the server for it.
  if (!(await streams.hold(session?.key ?? exchange.id, response))) return !leave(exchange);
  exchange.startAttempt = null;
  return true;
}

const nothing = Buffer.alloc(0);

type Found = { question: Question; recorded: RecordedAnswers; deploymentId: string };

/** "hold": the request is for a stream, which stays open. Null when the build has recorded no answer to it. */
function replyTo(
  sessionIds: SessionIds,
  admitted: AdmittedRequest,
  { question, recorded, deploymentId }: Found,
): Reply | "hold" | null {
  const { exchange, session, owner } = admitted;
  const sessionId = session?.id ?? null;
  if (question.kind === "end") return { status: 200, body: nothing, sessionId: null };
  const conversation = question.version && conversationOf(recorded, question.version, session !== null);
  if (question.kind === "notification") {
    return session || conversation ? { status: 202, body: nothing, sessionId } : null;
  }
  const answer = conversation?.answers[question.kind === "stream" ? streamKey : question.key];
  if (question.kind === "stream" && (session || answer?.status === 200)) return "hold";
  const text = answer && recorded.texts[answer.text];
  if (!conversation || !answer || text === undefined) return null;
  const { status } = answer;
  if (question.kind === "stream") return { status, body: Buffer.from(text), sessionId };
  const body = Buffer.from(answer.hasId ? `{"jsonrpc":"2.0","id":${question.id},${text}}` : text);
  if (question.opening === null || !conversation.hasSession) return { status, body, sessionId };
  const opened = openSession(exchange, { deploymentId, opening: question.opening, version: conversation.version });
  const id = sessionIds.seal(opened, owner);
  if (id === null) return null;
  exchange.session = sessionKeyOf(opened);
  exchange.client = opened;
  return { status, body, sessionId: id };
}

function conversationOf({ conversations }: RecordedAnswers, version: VersionOf, inSession: boolean) {
  return conversations.find((each) => {
    if ("requested" in version) return each.requested === version.requested && !isModern(each.requested);
    return each.version === version.agreed && (isModern(each.version) || each.hasSession === inSession);
  });
}

function openSession(
  { peek: { clientName, clientVersion } }: Exchange,
  { deploymentId, opening, version }: { deploymentId: string; opening: string; version: Conversation["version"] },
): Session {
  const serverId = `towpath-${randomUUID()}`;
  return { serverId, deploymentId, instanceId: null, opening, clientName, clientVersion, protocolVersion: version };
}

/** Sends an answer as if the server had: observed for the log, filtered, and complete once its row is on disk. */
function send(admitted: AdmittedRequest, reply: Reply): void {
  const { request, response, exchange, listedTools } = admitted;
  const type = reply.body.length > 0 ? ["content-type", "application/json"] : [];
  const seen = { "content-type": type[1] };
  const body = listedTools ? filtered(reply.body, listedTools) : reply.body;
  exchange.status = reply.status;
  exchange.startAttempt = answeredAsleep;
  exchange.answers = answersOf(exchange, seen);
  exchange.answers?.push(body);
  exchange.responseBytes = body.length;
  exchange.end = "complete";
  response.writeHead(reply.status, [
    ...type,
    ...["content-length", String(body.length), "cache-control", "no-store", requestIdHeader, exchange.id],
    ...(reply.sessionId === null ? [] : [sessionIdHeader, reply.sessionId]),
    ...corsHeaders(request.headers.origin),
  ]);
  admitted.sendEnd = () => response.end(body);
}

function filtered(body: Buffer, tools: readonly string[]): Buffer {
  const filter = createToolListFilter(tools, { "content-type": "application/json" });
  if (!filter) return body;
  const first = filter.push(body) ?? nothing;
  return Buffer.concat([first, filter.end()]);
}
