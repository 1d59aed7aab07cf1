import { secretHeader } from "@towpath/runner-api";
import type { Logger } from "pino";
import { busy, GatewayError, listWithheld, noAnswer, unreachable, unsupportedTarget } from "../gateway-error.ts";
import type { FairTurns } from "../limits/fair-turns.ts";
import type { Metrics } from "../platform/metrics.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { idForClient, type Session, type SessionIds, sessionNotFound } from "../policy/sessions.ts";
import { deploymentOf } from "../read-model/routes.ts";
import { answersOf, type Exchange } from "../record/exchange.ts";
import type { PendingCalls } from "../record/pending-calls.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Redactors } from "../record/redactors.ts";
import type { Sleeping } from "../sleeping/sleeping.ts";
import type { AdmittedRequest } from "./admitted-request.ts";
import { Backoff } from "./backoff.ts";
import { type ForwardEnd, forward } from "./forward.ts";
import { sessionIdHeader } from "./headers.ts";
import type { Lease, Leases } from "./leases.ts";
import { reportOnce, type SlowStart } from "./slow-start.ts";
import { failedStart } from "./start-attempts.ts";

export type ProxyParts = {
  holdMs: number;
  sessionIds: SessionIds;
  leases: Leases;
  slowStart: SlowStart;
  fairTurns: FairTurns;
  sleeping: Pick<Sleeping, "sessions">;
  pendingCalls: PendingCalls;
  recorder: Recorder;
  redactors: Redactors;
  metrics: Metrics;
  log: Logger;
};

/** Forwards a request at most once (GW-13). Waits for an unavailable server only while nothing has been sent. */
export async function proxy(parts: ProxyParts, admitted: AdmittedRequest): Promise<void> {
  const { response, exchange } = admitted;
  const { deploymentId } = exchange;
  if (deploymentId === null) throw unsupportedTarget(targetName(exchange));
  const backoff = new Backoff(parts.holdMs, { response, gauge: parts.metrics });
  parts.leases.requestStarted(deploymentId);
  try {
    while (!response.destroyed) {
      const lease = await ensure(parts, admitted, { deploymentId, backoff });
      // They were asked for before the lease, so there is hardly ever something to wait for.
      exchange.redactor ??= await parts.redactors.wait(deploymentId);
      // All that waited for one start go on in the same moment.
      if (backoff.heldMs > 0) await parts.fairTurns.take(exchange.route.organizationId);
      // Client disconnected; send nothing.
      if (lease === null || response.destroyed) break;
      const gate = parts.slowStart.gateOf(lease);
      const turn = gate?.enter();
      // When its time is up it is sent: the server is there.
      if (turn) await backoff.waitFor(turn).catch(() => {});
      const hasAnswered = reportOnce(gate);
      if (response.destroyed) break;
      exchange.instanceId = lease.instanceId;
      exchange.sentAt = performance.now();
      exchange.end = await send(parts, admitted, { lease, hasAnswered });
      hasAnswered();
      if (exchange.end === "no-answer") openedBy(parts, admitted, lease);
      switch (exchange.end) {
        case "dial-failed":
          parts.leases.invalidate(lease);
          await backoff.beforeRetry(unreachable());
          break;
        case "backlog-full":
          // The server is alive and keeps its sessions; only its accept queue is full.
          await backoff.beforeRetry(busy());
          break;
        case "no-answer":
          // Never 404: clients would initialize and send the request again, although it may have been carried out.
          parts.leases.invalidate(lease);
          throw noAnswer();
        case "withheld":
          throw listWithheld();
        case "left-out":
          admitted.path = admitted.otherPath ?? admitted.path;
          admitted.otherPath = null;
          break;
        default:
          return;
      }
    }
    exchange.end = "client-closed";
  } finally {
    exchange.heldMs = backoff.heldMs;
    parts.leases.requestEnded(deploymentId);
  }
}

function targetName({ route: { target } }: Exchange): string {
  return target.kind === "unknown" ? target.name : target.kind;
}

/**
 * A lease on the instance that the request must reach; null when the client disconnected meanwhile.
 *
 * @throws GatewayError when the server is not available in time, or when the session's process is gone
 */
async function ensure(
  parts: ProxyParts,
  admitted: AdmittedRequest,
  { deploymentId, backoff }: { deploymentId: string; backoff: Backoff },
): Promise<Lease | null> {
  const { response, exchange, session } = admitted;
  const { leases } = parts;
  const bound = session?.session;
  while (!response.destroyed) {
    try {
      // A session of an earlier deployment stays with its process while that runs, but never starts a new one.
      const isEarlier = bound && bound.deploymentId !== deploymentOf(exchange.route);
      if (isEarlier && !(await holdsSession(leases, bound))) throw sessionNotFound();
      const acquired = leases.acquire(deploymentId);
      const lease = acquired instanceof Promise ? await backoff.waitFor(acquired) : acquired;
      if (acquired instanceof Promise && lease) exchange.startAttempt = lease.start;
      const holder = session && (bound?.instanceId ?? parts.sleeping.sessions.instanceOf(session.key));
      if (lease && holder !== null && holder !== lease.instanceId) throw sessionNotFound();
      return lease;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (error.runnerCode !== null) exchange.startAttempt = failedStart(error.runnerCode);
      await backoff.beforeRetry(error);
    }
  }
  return null;
}

/** Whether the process that holds a session still runs. */
async function holdsSession(leases: Leases, { deploymentId, instanceId }: Session): Promise<boolean> {
  if (deploymentId === null) return false;
  if (instanceId !== null) return leases.isRunning(deploymentId, instanceId);
  return (await leases.stateOf(deploymentId)) !== "stopped";
}

/** The request has reached the server, which has opened its session if that was opened asleep. */
function openedBy({ sleeping }: ProxyParts, { session }: AdmittedRequest, { instanceId }: Lease): void {
  if (session && session.session.instanceId === null) sleeping.sessions.sentTo(session.key, instanceId);
}

type Sending = {
  readonly lease: Lease;
  /** Called when the answer begins. */
  readonly hasAnswered: () => void;
};

function send(parts: ProxyParts, admitted: AdmittedRequest, { lease, hasAnswered }: Sending): Promise<ForwardEnd> {
  const { request, response, path, otherPath, site, headers, body, listedTools, exchange, owner, session } = admitted;
  return forward({
    upstream: lease.upstream,
    method: exchange.httpMethod,
    path,
    isLeftOut: (status) =>
      status === 404 && otherPath !== null && (request.method === "GET" || request.method === "HEAD"),
    headers: [...headers, secretHeader, lease.endpoint.secret],
    body,
    response,
    requestId: exchange.id,
    extraHeaders: corsHeaders(request.headers.origin),
    site,
    listedTools,
    onStart: (status, responseHeaders) => {
      hasAnswered();
      exchange.status = status;
      exchange.isStream = responseHeaders["content-length"] === undefined;
      exchange.answers = answersOf(exchange, responseHeaders);
      openedBy(parts, admitted, lease);
      const serverId = responseHeaders[sessionIdHeader];
      const id = idForClient(parts.sessionIds, { owner, exchange, claim: session, holder: lease, serverId });
      if (id === null && serverId !== undefined) {
        parts.log.warn({ deploymentId: lease.deploymentId }, "a server's session id is too long; it was left out");
      }
      return id;
    },
    onData: (chunk) => {
      exchange.responseBytes += chunk.length;
      exchange.answers?.push(chunk);
      parts.pendingCalls.take(exchange);
      // The client has its answer with this piece, however long the stream stays open.
      if (exchange.isMcp && exchange.resumes === null && exchange.answers?.isStreamAnswered) {
        parts.recorder.record(exchange);
      }
    },
    whenRecorded: (callback) => parts.recorder.whenSpooled(callback),
    onWhole: (sendEnd) => {
      admitted.sendEnd = sendEnd;
    },
  });
}
