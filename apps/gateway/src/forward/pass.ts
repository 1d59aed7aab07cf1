import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { busy, GatewayError, noAnswer, unreachable, unsupportedTarget } from "../gateway-error.ts";
import type { Metrics } from "../platform/metrics.ts";
import { corsHeaders } from "../police/browsers.ts";
import {
  idForClient,
  type SessionClaim,
  type SessionIds,
  type SessionOwner,
  sessionNotFound,
} from "../police/sessions.ts";
import { deploymentOf } from "../read-model/routes.ts";
import { answersOf, type Exchange } from "../record/exchange.ts";
import type { OpenCalls } from "../record/open-calls.ts";
import type { Site } from "./cookies.ts";
import { type ForwardEnd, forward } from "./forward.ts";
import { sessionIdHeader } from "./headers.ts";
import { Hold } from "./hold.ts";
import type { Lease, Leases } from "./leases.ts";

export type PassParts = {
  holdMs: number;
  sessionIds: SessionIds;
  leases: Leases;
  openCalls: OpenCalls;
  metrics: Metrics;
  log: Logger;
};

/** A request that was admitted. */
export type Passing = {
  request: IncomingMessage;
  response: ServerResponse;
  path: string;
  site: Site;
  headers: string[];
  body: Buffer;
  exchange: Exchange;
  owner: SessionOwner;
  session: SessionClaim | null;
  /** Sends the end of an answer that has come whole. */
  sendEnd: (() => void) | null;
};

/** Forwards a request at most once (GW-13). Waits for an unavailable server only while nothing has been sent. */
export async function pass(parts: PassParts, passing: Passing): Promise<void> {
  const { response, exchange } = passing;
  const { deploymentId } = exchange;
  if (deploymentId === null) throw unsupportedTarget(targetName(exchange));
  const hold = new Hold(parts.holdMs, { response, gauge: parts.metrics });
  parts.leases.enter(deploymentId);
  try {
    while (!response.destroyed) {
      const lease = await ensure(parts, passing, { deploymentId, hold });
      // Client disconnected; send nothing.
      if (lease === null || response.destroyed) break;
      exchange.end = await send(parts, passing, lease);
      switch (exchange.end) {
        case "dial-failed":
          parts.leases.drop(lease);
          await hold.beforeRetry(unreachable());
          break;
        case "backlog-full":
          // The server is alive and keeps its sessions; only its accept queue is full.
          await hold.beforeRetry(busy());
          break;
        case "no-answer":
          // Never 404: clients would initialize and send the request again, although it may have been carried out.
          parts.leases.drop(lease);
          throw noAnswer();
        default:
          return;
      }
    }
    exchange.end = "client-closed";
  } finally {
    exchange.heldMs = hold.heldMs;
    parts.leases.leave(deploymentId);
  }
}

function targetName({ route: { target } }: Exchange): string {
  return target.kind === "unknown" ? target.name : target.kind;
}

/**
 * A lease on the instance that the request must reach; null when the client left while it was held.
 *
 * @throws GatewayError when the server cannot be had within the hold, or when the session's process is gone
 */
async function ensure(
  parts: PassParts,
  passing: Passing,
  { deploymentId, hold }: { deploymentId: string; hold: Hold },
): Promise<Lease | null> {
  const { response, exchange, session } = passing;
  const { leases } = parts;
  const bound = session?.session;
  while (!response.destroyed) {
    try {
      // A session of an earlier deployment stays with its process while that runs, but never starts a new one.
      const isEarlier = bound && bound.deploymentId !== deploymentOf(exchange.route);
      if (isEarlier && !(await leases.isRunning(bound.deploymentId, bound.instanceId))) throw sessionNotFound();
      const acquired = leases.acquire(deploymentId);
      const lease = acquired instanceof Promise ? await hold.until(acquired) : acquired;
      if (lease && bound && bound.instanceId !== lease.instanceId) throw sessionNotFound();
      return lease;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      await hold.beforeRetry(error);
    }
  }
  return null;
}

function send(parts: PassParts, passing: Passing, lease: Lease): Promise<ForwardEnd> {
  const { request, response, path, site, headers, body, exchange, owner, session } = passing;
  return forward({
    upstream: lease.upstream,
    method: exchange.httpMethod,
    path,
    headers,
    body,
    response,
    extraHeaders: corsHeaders(request.headers.origin),
    site,
    onStart: (status, responseHeaders) => {
      exchange.status = status;
      exchange.answers = answersOf(exchange, responseHeaders);
      const serverId = responseHeaders[sessionIdHeader];
      const id = idForClient(parts.sessionIds, { owner, exchange, claim: session, lease, serverId });
      if (id === null && serverId !== undefined) {
        parts.log.warn({ deploymentId: lease.deploymentId }, "a server's session id is too long; it was left out");
      }
      return id;
    },
    onData: (chunk) => {
      exchange.responseBytes += chunk.length;
      exchange.answers?.push(chunk);
      parts.openCalls.take(exchange);
    },
    onWhole: (sendEnd) => {
      passing.sendEnd = sendEnd;
    },
  });
}
