import { isOfCaller, isOtherInstance, type ServerKey, secretHeader } from "@towpath/runner-api";
import { type AnswerEnd, type Delivery, type Rest, undelivered } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import { busy, GatewayError, listWithheld, noAnswer, unreachable, unsupportedTarget } from "../gateway-error.ts";
import type { FairTurns } from "../limits/fair-turns.ts";
import type { Metrics } from "../platform/metrics.ts";
import { needsPerson, needsValues, withoutValuesAnswer } from "../policy/own-values.ts";
import { sessionNotFound } from "../policy/sessions.ts";
import { currentDeployments, type Route } from "../read-model/routes.ts";
import type { Redactors } from "../record/redactors.ts";
import type { Sleeping } from "../sleeping/sleeping.ts";
import { Backoff } from "./backoff.ts";
import { type ForwardParts, failureOfServer, forward } from "./forward.ts";
import type { Lease } from "./instance-lease.ts";
import type { Leases } from "./leases.ts";
import { reportOnce, type SlowStart } from "./slow-start.ts";
import { failedStart } from "./start-attempts.ts";

export type ProxyParts = ForwardParts & {
  holdMs: number;
  /** Origin of the dashboard. */
  dashboard: string;
  leases: Leases;
  slowStart: SlowStart;
  fairTurns: FairTurns;
  sleeping: Pick<Sleeping, "sessions">;
  redactors: Redactors;
  metrics: Metrics;
};

/** A request on its way to a server of this instance. */
type Passage = {
  readonly admitted: Admitted;
  readonly server: ServerKey;
  readonly backoff: Backoff;
  readonly delivery: Delivery;
};

/** Forwards a request at most once (GW-13). Waits for an unavailable server only while nothing has been sent. */
export async function proxy(parts: ProxyParts, admitted: Admitted): Promise<Rest> {
  const { call, received, deploymentId, server } = admitted;
  if (deploymentId === null) throw unsupportedTarget(targetName(call.route));
  if (server === null) throw needsPerson(admitted);
  const backoff = new Backoff(parts.holdMs, { response: call.response, gauge: parts.metrics });
  const delivery = { ...undelivered };
  received.answer.delivery = delivery;
  parts.leases.requestStarted(server);
  try {
    return await deliver(parts, { admitted, server, backoff, delivery });
  } finally {
    delivery.heldMs = backoff.heldMs;
    parts.leases.requestEnded(server);
  }
}

async function deliver(parts: ProxyParts, passage: Passage): Promise<Rest> {
  const { admitted, backoff, delivery } = passage;
  const { response, target, request } = admitted.call;
  const { answer } = admitted.received;
  const isRead = request.method === "GET" || request.method === "HEAD";
  let { path, otherPath } = target;
  while (!response.destroyed) {
    const lease = await ensure(parts, passage);
    // Requested before the lease, so there is hardly ever a wait. A caller may have changed a value since.
    if (answer.redactor === null || isOfCaller(passage.server, null))
      answer.redactor = await parts.redactors.wait(passage.server);
    // Requests that waited for the same start continue at the same moment.
    if (backoff.heldMs > 0) await parts.fairTurns.take(admitted.call.route.organizationId);
    // Client disconnected; send nothing.
    if (lease === null || response.destroyed) break;
    const gate = parts.slowStart.gateOf(lease);
    const turn = gate?.enter();
    // When its time is up it is sent: the server is there.
    if (turn) await backoff.waitFor(turn).catch(() => {});
    const hasAnswered = reportOnce(gate);
    if (response.destroyed) break;
    delivery.instanceId = lease.instanceId;
    delivery.heldMs = backoff.heldMs;
    delivery.sentAt = performance.now();
    const mayRetry = otherPath !== null && isRead;
    const forwarded = await forward(parts, withoutValuesAnswer(admitted), {
      dispatcher: lease.upstream,
      path,
      headers: [...admitted.headers, secretHeader, lease.endpoint.secret],
      holder: lease,
      isLeftOut: (status, headers) => isOtherInstance(status, headers) || (status === 404 && mayRetry),
      onBegin() {
        hasAnswered();
        openedBy(parts, admitted, lease);
      },
    });
    hasAnswered();
    if (forwarded.end === "complete") return forwarded.sendEnd;
    if (forwarded.end === "withheld") throw listWithheld();
    if (forwarded.end === "failed") await retryAfter(parts, passage, lease, failureOfServer(forwarded.error));
    else if (forwarded.end !== "left-out") return "over";
    // The address is another server's by now, whose code has not seen the request.
    else if (forwarded.status === 401) await retryAfter(parts, passage, lease, "dial-failed");
    else [path, otherPath] = [otherPath ?? path, null];
  }
  answer.end = "client-closed";
  // Only what wasn't sent gets here.
  delivery.sentAt = null;
  return "over";
}

/** Waits until a request that wasn't sent may be tried again. @throws GatewayError for one that may have been */
async function retryAfter(
  parts: ProxyParts,
  { admitted, backoff }: Passage,
  lease: Lease,
  end: AnswerEnd,
): Promise<void> {
  admitted.received.answer.end = end;
  // A server whose queue of connections is full is alive and keeps its sessions.
  if (end === "backlog-full") return backoff.beforeRetry(busy());
  parts.leases.invalidate(lease);
  if (end === "dial-failed") return backoff.beforeRetry(unreachable());
  openedBy(parts, admitted, lease);
  // Never 404: clients would initialize and repeat the request, although it may have been executed.
  throw noAnswer();
}

function targetName({ target }: Route): string {
  return target.kind === "unknown" ? target.name : target.kind;
}

/**
 * A lease on the instance that the request must reach; null when the client disconnects meanwhile.
 *
 * @throws GatewayError when the server is not available in time, or when the session's process is gone
 */
async function ensure(parts: ProxyParts, { admitted, server, backoff, delivery }: Passage): Promise<Lease | null> {
  const { call, session } = admitted;
  const { leases } = parts;
  const bound = session?.session;
  while (!call.response.destroyed) {
    try {
      // A session of an earlier deployment stays with its process while that runs, but never starts a new one.
      // Of one that was opened asleep, any process of its deployment will do.
      const isEarlier = bound && !currentDeployments(call.route).some((id) => id === bound.deploymentId);
      // Of a version that has gone back, none stays: its next request begins one at the version that is live.
      const isWithdrawn = isEarlier && call.route.release?.deploymentId === bound.deploymentId;
      if (isWithdrawn || (isEarlier && !(await leases.isRunning(server, bound.instanceId)))) throw sessionNotFound();
      const acquired = leases.acquire(server, admitted.received.trace);
      const lease = acquired instanceof Promise ? await backoff.waitFor(acquired) : acquired;
      if (acquired instanceof Promise && lease) delivery.startAttempt = lease.start;
      const holder = session && (bound?.instanceId ?? parts.sleeping.sessions.instanceOf(session.key));
      if (lease && holder !== null && holder !== lease.instanceId) throw sessionNotFound();
      return lease;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      if (error.runnerCode === "values_missing") {
        await backoff.beforeRetry(needsValues(admitted, error.message, parts.dashboard));
        continue;
      }
      if (error.runnerCode !== null) delivery.startAttempt = failedStart(error.runnerCode);
      await backoff.beforeRetry(error);
    }
  }
  return null;
}

/** The request has reached the server, and with it a session that was opened while the server slept. */
function openedBy({ sleeping }: ProxyParts, { session }: Admitted, { instanceId }: Lease): void {
  if (session && session.session.instanceId === null) sleeping.sessions.sentTo(session.key, instanceId);
}
