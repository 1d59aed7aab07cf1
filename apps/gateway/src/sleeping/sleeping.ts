import { randomUUID } from "node:crypto";
import { isModern, type RecordedAnswers, streamKey } from "@towpath/mcp/manifest";
import type { Reading } from "@towpath/telemetry";
import type { Logger } from "pino";
import { type Rest, undelivered } from "../call/answer.ts";
import { reply } from "../call/reply.ts";
import type { Admitted } from "../call/states.ts";
import { sessionIdHeader } from "../forward/headers.ts";
import type { Leases } from "../forward/leases.ts";
import { answeredAsleep } from "../forward/start-attempts.ts";
import { counter, gauge } from "../platform/metrics.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { beginSession, type SessionIds, sessionNotFound } from "../policy/sessions.ts";
import { type AnswerEdits, createAnswerFilter } from "../policy/tool-lists.ts";
import type { LoadRecordedAnswers } from "../read-model/recorded-answers.ts";
import { answersAsleep, type Route } from "../read-model/routes.ts";
import { requestIdHeader } from "../record/request-id.ts";
import type { Announce } from "../workers/news.ts";
import { AnswerCache } from "./answer-cache.ts";
import { HeldStreams } from "./held-streams.ts";
import { OpenedSessions } from "./opened-sessions.ts";
import { type Question, questionOf, type VersionOf } from "./question.ts";

type Parts = {
  load: LoadRecordedAnswers;
  log: Logger;
  /** This process's share of the memory. */
  share: number;
  leases: Leases;
  sessionIds: SessionIds;
  announce: Announce;
};

export type Sleeping = ReturnType<typeof createSleeping>;

export function createSleeping({ load, log, share, leases, sessionIds, announce }: Parts) {
  const answers = new AnswerCache({ load, log, share });
  const streams = new HeldStreams();
  const sessions = new OpenedSessions({ streams, announce });
  let answered = 0;

  /**
   * The answer; null: the request goes to the server.
   *
   * @throws GatewayError 404 when the process that held its session is gone
   */
  async function decide(admitted: Admitted): Promise<Reply | "hold" | null> {
    const { route } = admitted.call;
    const { deploymentId, server } = admitted;
    // A client with a session of an earlier rollout has read that one's lists.
    if (deploymentId === null || !answersAsleep(route, deploymentId)) return null;
    const question = questionOf(admitted);
    if (question === null) return null;
    // What serves others doesn't answer a caller without an instance of their own.
    const state = server === null ? "stopped" : await leases.stateOf(server);
    const { session } = admitted;
    if (state === "stopped" && session && sessions.instanceOf(session.key) !== null) throw sessionNotFound();
    // A frozen process may hold the session, which must end there.
    if (state === "ready" || (state === "asleep" && question.kind === "end")) return null;
    const recorded = await answers.of(deploymentId);
    return recorded && replyTo(sessionIds, admitted, { question, recorded, deploymentId });
  }

  const readings: Reading[] = [
    counter("answers_asleep", "Requests answered for a sleeping server", () => answered),
    gauge("answers_bytes", "Bytes of recorded answers in memory", () => answers.bytes),
    gauge("streams_held", "Sessions with a stream but no server", () => streams.size),
  ];
  return {
    /**
     * Answers a request in place of its server, if the server is asleep and its build has recorded the answer (GW-12).
     * Null: the request goes to the server. A running server always answers itself. Call it for deployments with
     * `answersAsleep` and for sessions that were opened asleep, after all policies: refusals are the same either way.
     */
    async answer(admitted: Admitted): Promise<Rest | null> {
      const { call, session } = admitted;
      const decided = await decide(admitted);
      if (decided === null) {
        // The request opens the session at the server.
        if (session && session.session.opening !== null) sessions.announce(session.key);
        return null;
      }
      if (call.response.destroyed) return leave(admitted);
      if (decided === "hold") return holdStream(streams, admitted);
      answered++;
      return send(admitted, decided);
    },
    /** Loads recorded answers before they are needed. Call it after routes were loaded. Never rejects. */
    loadAhead: (routes: readonly Route[]) => answers.loadAhead(routes),
    /** Which processes hold the sessions that were opened asleep. */
    sessions,
    readings,
  };
}

type Reply = { status: number; body: Buffer; sessionId: string | null };

/** The client has disconnected. */
function leave({ received }: Admitted): "over" {
  received.answer.end = "client-closed";
  return "over";
}

const deliveredAsleep = { ...undelivered, startAttempt: answeredAsleep };

/** Resolves to null when the stream is to be forwarded; its head has been sent. */
async function holdStream(streams: HeldStreams, admitted: Admitted): Promise<"over" | null> {
  const { call, received, session } = admitted;
  const { request, response } = call;
  const { answer } = received;
  answer.status = 200;
  answer.delivery = deliveredAsleep;
  response.writeHead(200, [
    "content-type",
    "text/event-stream",
    "cache-control",
    "no-cache, no-transform",
    requestIdHeader,
    call.id,
    ...(session ? [sessionIdHeader, session.id] : []),
    ...corsHeaders(request.headers.origin),
  ]);
  response.flushHeaders();
  // Without a session nothing could wake the server for it.
  if (!(await streams.hold(session?.key ?? call.id, response))) return leave(admitted);
  answer.delivery = undelivered;
  return null;
}

const nothing = Buffer.alloc(0);

type Found = { question: Question; recorded: RecordedAnswers; deploymentId: string };

/** "hold": the request is for a stream, which stays open. Null if the build has recorded no answer to it. */
function replyTo(
  sessionIds: SessionIds,
  admitted: Admitted,
  { question, recorded, deploymentId }: Found,
): Reply | "hold" | null {
  const { session } = admitted;
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
  const begun = { serverId: `towpath-${randomUUID()}`, deploymentId, instanceId: null };
  const { opening } = question;
  const id = beginSession(sessionIds, admitted, { ...begun, opening, protocolVersion: conversation.version });
  return id === null ? null : { status, body, sessionId: id };
}

function conversationOf({ conversations }: RecordedAnswers, version: VersionOf, inSession: boolean) {
  return conversations.find((each) => {
    if ("requested" in version) return each.requested === version.requested && !isModern(each.requested);
    return each.version === version.agreed && (isModern(each.version) || each.hasSession === inSession);
  });
}

/** Sends an answer as the server would. */
function send(admitted: Admitted, { status, body, sessionId }: Reply): Rest {
  const { received } = admitted;
  received.answer.delivery = deliveredAsleep;
  const type = body.length > 0 ? "application/json" : null;
  return reply(admitted, { status, type, sessionId, body: filtered(body, admitted) });
}

function filtered(body: Buffer, edits: AnswerEdits): Buffer {
  if (edits.listedTools === null && edits.change === null) return body;
  const filter = createAnswerFilter(edits, { "content-type": "application/json" });
  if (!filter) return body;
  const first = filter.push(body) ?? nothing;
  return Buffer.concat([first, filter.end()]);
}
