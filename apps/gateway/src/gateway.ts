import type { IncomingMessage, ServerResponse } from "node:http";
import { peekRequest } from "@towpath/mcp/peek";
import type { Logger } from "pino";
import { type ForwardEnd, forward } from "./forward/forward.ts";
import { forwardedHeaders } from "./forward/forwarded.ts";
import { headerOf, headersForServer } from "./forward/headers.ts";
import { withinHold } from "./forward/hold.ts";
import type { Lease, Leases } from "./forward/leases.ts";
import type { Counters } from "./platform/counters.ts";
import { discardBody, readBody } from "./police/body.ts";
import { answerPreflight, corsHeaders, isPreflight } from "./police/cors.ts";
import type { Authenticate } from "./police/credentials.ts";
import { checkOrigin } from "./police/origin.ts";
import { claimSession, learnSession, type SessionClaim, sessionNotFound } from "./police/session-binding.ts";
import type { Sessions } from "./police/sessions.ts";
import type { Route } from "./read-model/routes.ts";
import { answersOf, type Exchange, rowsOf } from "./record/exchange.ts";
import type { Recorder } from "./record/recorder.ts";
import { Refusal, sendRefusal } from "./refusal.ts";
import type { RouteTable } from "./route/route-table.ts";
import { type Destination, destinationOf, type ServerAddress } from "./route/server-address.ts";

export type GatewayParts = {
  serverAddress: ServerAddress;
  allowedOrigins: readonly string[];
  holdMs: number;
  routes: RouteTable;
  authenticate: Authenticate;
  sessions: Sessions;
  leases: Leases;
  recorder: Recorder;
  counters: Counters;
  /** The gateway's own pages (text, health, metrics). */
  platform: (request: IncomingMessage, response: ServerResponse, path: string) => void;
  log: Logger;
};

type ServerDestination = Extract<Destination, { kind: "server" }>;

/** The data plane: decide → police → forward → record, in this order, for every request. */
export function createGateway(parts: GatewayParts): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    parts.counters.requests++;
    handle(parts, request, response).catch((error: unknown) => {
      if (!(error instanceof Refusal)) {
        parts.log.error({ err: error }, "a request failed in the gateway");
        response.destroy();
        return;
      }
      refuse(parts, request, response, error, undefined);
    });
  };
}

async function handle(parts: GatewayParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const time = Date.now();
  const startedAt = performance.now();

  // Decide: which server is meant?
  const destination = destinationOf(parts.serverAddress, request.headers.host, request.url ?? "");
  if (destination.kind === "platform") return parts.platform(request, response, destination.path);
  const { route, label, path, isMcp } = decide(parts, destination);

  // Police: may this caller ask it, and is the request one to pass on?
  checkOrigin(request.headers.origin, { isLoopback: parts.serverAddress.isLoopback, allowed: parts.allowedOrigins });
  if (isPreflight(request)) return answerPreflight(request, response);
  const principal = await parts.authenticate(route, { authorization: request.headers.authorization, url: path });
  const forwarded = forwardedHeaders(parts.serverAddress, label, request);
  const headers = headersForServer(request.rawHeaders, principal, forwarded);
  const body = await readBody(request);
  if (body === null) return;
  const session = claimSession(parts.sessions, headerOf(request, "mcp-session-id"), { route, label, principal });

  const exchange: Exchange = {
    route,
    httpMethod: request.method ?? "GET",
    principal: principal.id,
    peek: peekRequest(body, {
      protocolVersion: headerOf(request, "mcp-protocol-version"),
      method: headerOf(request, "mcp-method"),
      name: headerOf(request, "mcp-name"),
    }),
    body,
    traceparent: headerOf(request, "traceparent"),
    time,
    startedAt,
    deploymentId: session?.bound?.deploymentId ?? route.deploymentId,
    heldMs: 0,
    session: session?.key ?? null,
    client: session?.bound,
    status: 0,
    responseBytes: 0,
    answers: null,
    end: null,
    refusal: null,
  };

  // Forward: to a warm instance, passing bytes and closes both ways.
  parts.leases.enter(exchange.deploymentId);
  try {
    await pass(parts, { request, response, label, path, headers, exchange, session });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    exchange.refusal = error;
    exchange.status = error.status;
    exchange.responseBytes = refuse(parts, request, response, error, isMcp ? exchange.peek.id : undefined);
  } finally {
    parts.leases.leave(exchange.deploymentId);
  }

  // Record: one row for each JSON-RPC message.
  if (isMcp) for (const row of rowsOf(exchange)) parts.recorder.add(row);
  parts.counters.ended(exchange.status, exchange.end, performance.now() - startedAt);
}

function decide(parts: GatewayParts, destination: Destination): ServerDestination & { route: Route } {
  if (destination.kind === "unknown-host") {
    throw new Refusal("unknown_host", "No server has this host name. Check the address.");
  }
  if (destination.kind !== "server") {
    throw new Refusal("unknown_path", "Nothing is served at this path. An MCP endpoint's address ends in /mcp.");
  }
  if (!parts.routes.isLoaded) {
    throw new Refusal("gateway_not_ready", "The gateway does not know its servers yet. Try again shortly.", {
      "retry-after": "2",
    });
  }
  const route = parts.routes.find(destination.label);
  // Documents about sign-in are the server's own only where the server does its own sign-in.
  if (!route || (destination.isWellKnown && route.authMode !== "passthrough")) {
    throw new Refusal(
      "unknown_server",
      "There is no server at this address. Check its name in the dashboard, and that it has a live deployment.",
    );
  }
  return { ...destination, route };
}

type Passing = {
  request: IncomingMessage;
  response: ServerResponse;
  label: string;
  path: string;
  headers: string[];
  exchange: Exchange;
  session: SessionClaim | null;
};

/** Forwards once; a second time, on a new lease, only when the first dial failed and so nothing was sent. */
async function pass(parts: GatewayParts, passing: Passing): Promise<void> {
  const { exchange, session } = passing;
  for (let attempt = 1; ; attempt++) {
    const lease = await ensure(parts, passing);
    if (lease === null) return;
    exchange.end = await send(parts, passing, lease);
    if (exchange.end === "dial-failed" || exchange.end === "no-answer") parts.leases.drop(lease);
    if (exchange.end === "dial-failed" && attempt === 1) continue;
    if (exchange.end !== "dial-failed" && exchange.end !== "no-answer") return;
    // The process that held the session is gone, and the session with it.
    if (session) {
      parts.sessions.forget(session.key);
      throw sessionNotFound();
    }
    throw new Refusal(
      "server_unreachable",
      "The server closed the connection before it answered. Its log may say why; try again.",
    );
  }
}

/** A lease on the instance that the request must reach; null when the client left while it was held. */
async function ensure(parts: GatewayParts, { response, exchange, session }: Passing): Promise<Lease | null> {
  const { leases } = parts;
  const bound = session?.bound;
  // A session of an earlier deployment stays with it as long as its process lives, and must not start another.
  if (session && bound && bound.deploymentId !== exchange.route.deploymentId) {
    if (!(await leases.isRunning(bound.deploymentId, bound.instanceId))) {
      parts.sessions.forget(session.key);
      throw sessionNotFound();
    }
  }
  const acquired = leases.acquire(exchange.deploymentId);
  let lease: Lease | null;
  if (acquired instanceof Promise) {
    const heldFrom = performance.now();
    parts.counters.held++;
    lease = await withinHold(acquired, parts.holdMs, response).finally(() => {
      parts.counters.held--;
      exchange.heldMs += performance.now() - heldFrom;
    });
    if (lease === null) exchange.end = "client-closed";
  } else {
    lease = acquired;
  }
  if (lease && session && bound && bound.instanceId !== lease.instanceId) {
    parts.sessions.forget(session.key);
    throw sessionNotFound();
  }
  // Who left before the server was asked must not start anything there.
  if (lease && response.destroyed) {
    exchange.end = "client-closed";
    return null;
  }
  return lease;
}

function send(parts: GatewayParts, passing: Passing, lease: Lease): Promise<ForwardEnd> {
  const { request, response, label, path, headers, exchange, session } = passing;
  return forward({
    upstream: lease.upstream,
    method: exchange.httpMethod,
    path,
    headers,
    body: exchange.body,
    response,
    extraHeaders: corsHeaders(request.headers.origin),
    onStart: (status, responseHeaders) => {
      exchange.status = status;
      exchange.answers = answersOf(exchange, responseHeaders);
      learnSession(parts.sessions, {
        label,
        exchange,
        claim: session,
        lease,
        newId: responseHeaders["mcp-session-id"],
      });
    },
    onData: (chunk) => {
      exchange.responseBytes += chunk.length;
      exchange.answers?.push(chunk);
    },
  });
}

function refuse(
  parts: GatewayParts,
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  rpcId: string | number | null | undefined,
): number {
  parts.counters.refused(refusal.code);
  // A POST is taken for JSON-RPC even when it was refused before its body was read.
  const id = rpcId === undefined && request.method === "POST" ? null : rpcId;
  const bytes = sendRefusal(response, refusal, { rpcId: id, headers: corsHeaders(request.headers.origin) });
  if (!request.complete) discardBody(request);
  return bytes;
}
