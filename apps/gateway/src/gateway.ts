import type { IncomingMessage, ServerResponse } from "node:http";
import { callerNameHeader } from "@towpath/auth/credentials";
import type { AdmittedRequest } from "./forward/admitted-request.ts";
import type { AssertIdentity } from "./forward/assertions.ts";
import { siteOf } from "./forward/cookies.ts";
import {
  forwardedHeaders,
  headerOf,
  headersForServer,
  sessionIdHeader,
  withoutCompression,
} from "./forward/headers.ts";
import { forwardToTarget, type TargetParts } from "./forward/to-target.ts";
import {
  credentialsEnded,
  GatewayError,
  gatewayFailed,
  type RpcId,
  sendError,
  unknownServer,
  withoutSignIn,
} from "./gateway-error.ts";
import type { Limits } from "./limits/limits.ts";
import type { PaceRefusals } from "./limits/pace-refusals.ts";
import { answerSignIn, findOAuthEndpoint, type SignInParts } from "./oauth/answer-sign-in.ts";
import { askToContinue } from "./platform/continue-page.ts";
import { isForPeople, showEndpoint } from "./platform/endpoint-page.ts";
import { checkCaller } from "./policy/access.ts";
import { callsOf, discardBody, readBody } from "./policy/body.ts";
import { answerPreflight, checkOrigin, corsHeaders, isNavigation, isPreflight } from "./policy/browsers.ts";
import type { Capacity } from "./policy/capacity.ts";
import { clientAddress } from "./policy/client-address.ts";
import type { Authenticate } from "./policy/credentials.ts";
import type { OpenResponses } from "./policy/open-responses.ts";
import { claimSession, headersOfSession } from "./policy/sessions.ts";
import { checkTools } from "./policy/tools.ts";
import type { Known } from "./portal/member-exchange.ts";
import type { Route } from "./read-model/routes.ts";
import { addBody, beginExchange, type Exchange } from "./record/exchange.ts";
import { countEnded, isLogged, recordRefused } from "./record/record-refused.ts";
import type { RefusalLimit } from "./record/refusal-limit.ts";
import { newRequestId, requestIdHeader } from "./record/request-id.ts";
import { type Destination, destinationOf } from "./route/server-address.ts";
import type { Sleeping } from "./sleeping/sleeping.ts";
import { traceparentOf } from "./tracing/trace-context.ts";
import type { Tracer } from "./tracing/tracer.ts";
import { checkRequest } from "./wire/check-request.ts";

export type GatewayParts = TargetParts &
  SignInParts & {
    /** Origin of the dashboard. */
    dashboard: string;
    authenticate: Authenticate;
    assertIdentity: AssertIdentity;
    openResponses: OpenResponses;
    limits: Limits;
    paceRefusals: PaceRefusals;
    capacity: Capacity;
    refusalLimit: RefusalLimit;
    sleeping: Sleeping;
    /** Null: requests are not traced. */
    tracer: Tracer | null;
    /** The gateway's own pages (text, health, metrics). */
    platform: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>;
  };

type ServerDestination = Extract<Destination, { kind: "server" }>;

/** The data plane: route → policy → forward → record, in this order, for every request. */
export function createGateway(
  given: Omit<GatewayParts, "handleKnown">,
): (request: IncomingMessage, response: ServerResponse) => void {
  const parts: GatewayParts = {
    ...given,
    handleKnown: (request, response, known) => {
      const { label } = known.route;
      const at = { kind: "server", label, path: "/mcp", isMcp: true, isWellKnown: false, otherPath: null } as const;
      const time = Date.now();
      const begun = { id: newRequestId(time), time };
      return exchangeWith(parts, { request, response, begun }, { ...at, found: known.route }, known);
    },
  };
  return (request, response) => {
    parts.metrics.requestStarted();
    const time = Date.now();
    const begun = { id: newRequestId(time), time };
    handle(parts, { request, response, begun }).catch(async (error: unknown) => {
      const refusal = gatewayErrorFor(parts, error, begun.id);
      await parts.paceRefusals(request, refusal.status);
      refuse(parts, { request, response, requestId: begun.id }, refusal, undefined);
    });
  };
}

type Incoming = { request: IncomingMessage; response: ServerResponse; begun: { id: string; time: number } };

async function handle(parts: GatewayParts, { request, response, begun }: Incoming): Promise<void> {
  checkRequest(request);
  // Route: which server is meant?
  const destination = destinationOf(parts.serverAddress, request.headers.host, request.url ?? "");
  if (destination.kind === "platform") return parts.platform(request, response, destination.path);
  if (parts.routes.opening) await parts.routes.opening;
  const oauth = findOAuthEndpoint(parts, destination, request);
  if (oauth) return answerSignIn(parts, { endpoint: oauth, request, response });
  const target = findTarget(parts, destination);
  if (target.isMcp && isForPeople(request)) return showEndpoint(parts, { request, response, target });
  return exchangeWith(parts, { request, response, begun }, target, null);
}

/** `known`: who calls, through which portal; null: the client is still to be authenticated. */
async function exchangeWith(
  parts: GatewayParts,
  { request, response, begun }: Incoming,
  target: Target,
  known: Known | null,
): Promise<void> {
  const { isMcp } = target;
  const exchange = target.found && beginExchange(target.found, request, { ...begun, isMcp, via: known?.via });
  if (exchange && known?.caller) known.caller.member = exchange;
  if (exchange?.isMcp) exchange.trace = parts.tracer?.begin(exchange.traceparent) ?? null;

  let admitted: AdmittedRequest | null = null;
  let isAwaited = false;
  try {
    // Policy: may this caller reach it, and may the request be forwarded?
    const allowed = await admit(parts, { request, response, target, exchange, known });
    if (allowed === null) return;
    admitted = allowed;
    // Forward: to a running instance; bytes and closes pass in both directions.
    isAwaited = await parts.pendingCalls.track(allowed.exchange, async () => {
      // A server that is asleep need not wake for handshakes and lists (GW-12).
      const { opening = null, deploymentId = null } = allowed.session?.session ?? {};
      const isOpenedAsleep = opening !== null && deploymentId !== null;
      if ((isOpenedAsleep || allowed.exchange.route.answersAsleep) && (await parts.sleeping.answer(allowed))) return;
      await forwardToTarget(parts, allowed);
      if (parts.openResponses.wasRevoked(response)) allowed.exchange.refusal ??= credentialsEnded();
    });
  } catch (error) {
    if (!exchange) throw error;
    const refusal = gatewayErrorFor(parts, error, begun.id);
    const rpcId = isLogged(exchange, refusal) && exchange.body ? answeredIds(exchange, refusal) : undefined;
    exchange.refusal = refusal;
    exchange.status = refusal.status;
    await parts.paceRefusals(request, refusal.status);
    exchange.responseBytes = refuse(parts, { request, response, requestId: begun.id }, refusal, rpcId);
  }

  // Record: one row for each JSON-RPC message, on disk before the client has its answer.
  if (!exchange) return;
  exchange.endedAt ??= performance.now();
  if (admitted) record(parts, { exchange, admitted, isAwaited });
  // Once the answer was sent, which must not take longer for a server that exists.
  else setImmediate(recordRefused, parts, exchange, request);
}

/** `found` is undefined for an unknown name, which must look like a private server to strangers. */
type Target = ServerDestination & { found: Route | undefined };

function findTarget(parts: GatewayParts, destination: Destination): Target {
  if (destination.kind === "unknown-host") {
    throw new GatewayError("unknown_host", "No server has this host name. Check the address.");
  }
  if (destination.kind !== "server") {
    throw new GatewayError("unknown_path", "Nothing is served at this path. An MCP endpoint's address ends in /mcp.");
  }
  if (!parts.routes.isLoaded) {
    throw new GatewayError("gateway_not_ready", "The gateway does not know its servers yet. Try again shortly.", {
      "retry-after": "2",
    });
  }
  const found = parts.routes.find(destination.label);
  // Only a server that does its own sign-in serves its own sign-in documents.
  if (destination.isWellKnown && found?.authMode !== "passthrough")
    throw found?.authMode === "towpath-public" ? withoutSignIn() : unknownServer();
  return { ...destination, found };
}

type Arrival = {
  request: IncomingMessage;
  response: ServerResponse;
  target: Target;
  exchange: Exchange | undefined;
  known: Known | null;
};

/**
 * Applies all policies to a request and prepares it for its server. Null when it ends here: a CORS preflight or a form
 * of a sandboxed page, which have been answered, or a client that disconnected before the end of its body.
 *
 * @throws GatewayError
 */
async function admit(parts: GatewayParts, arrival: Arrival): Promise<AdmittedRequest | null> {
  const { request, response, target, exchange, known } = arrival;
  const { found, label, path, otherPath, isMcp } = target;
  const site = siteOf(parts.serverAddress, { label, isMcp, cookiesSent: request.headers.cookie });
  // A page of a server's own sign-in: forms of an identity provider lead there too. It protects itself, as on any host.
  const isPage = !isMcp && found?.authMode === "passthrough" && isNavigation(request);
  if (!isPage) {
    const { isLoopback } = parts.serverAddress;
    checkOrigin(request.headers.origin, { isLoopback, allowed: parts.allowedOrigins });
  }
  if (isPreflight(request)) {
    answerPreflight(request, response);
    return null;
  }
  const name = headerOf(request, callerNameHeader);
  const caller = { authorization: request.headers.authorization, name, url: path, label };
  const { route, principal } = known ?? (await parts.authenticate(found, caller));
  // Unknown names never get this far.
  if (!exchange) throw unknownServer();
  exchange.principal = principal.id;
  checkCaller(route, principal);
  // Not before: a stranger's request must not cause secrets to be decrypted.
  exchange.redactor = parts.redactors.find(exchange.deploymentId);
  if (!known) parts.signIns.accepted(route, principal, request);
  parts.openResponses.watch(response, principal, exchange);
  const client = clientAddress(parts.serverAddress, request, parts.proxies);
  const call = parts.limits.enter(route, { principal, address: client, isThroughPortal: known !== null }, response);
  const turn = parts.fairTurns.take(route.organizationId, call.openOfOrganization);
  if (turn) await turn;
  const read = readBody(request, parts.capacity.admit(route.projectId, response));
  const body = read instanceof Promise ? await read : read;
  if (body === null) return null;
  addBody(exchange, body, request);
  call.take(callsOf(exchange));
  if (isPage && site.form === "path" && askToContinue({ request, response, label, body })) return null;
  const forwarded = forwardedHeaders(parts.serverAddress, label, client);
  forwarded.push(requestIdHeader, exchange.id);
  if (exchange.trace) forwarded.push("traceparent", traceparentOf(exchange.trace));
  const asserted = parts.assertIdentity(route, principal);
  const assertion = asserted === null ? null : await asserted;
  const passed = headersForServer(request.rawHeaders, {
    principal,
    assertion,
    forwarded,
    site,
    isTraced: exchange.trace !== null,
  });
  const tools = route.access?.tools ?? null;
  const listedTools = tools && checkTools(tools, { request, isMcp, body }) ? tools : null;
  const owner = { projectId: route.projectId, label, principal: principal.id };
  const session = claimSession(parts.sessionIds, headerOf(request, sessionIdHeader), owner);
  if (session) {
    exchange.session = session.key;
    exchange.client = session.session;
    exchange.deploymentId = session.session.deploymentId;
    exchange.redactor = parts.redactors.find(exchange.deploymentId);
  }
  const own = session ? headersOfSession(passed, session.session) : passed;
  const headers = listedTools ? withoutCompression(own) : own;
  const to = { path, otherPath, site, headers, body, listedTools };
  return { request, response, ...to, exchange, owner, principal, session, sendEnd: null };
}

type Ended = { exchange: Exchange; admitted: AdmittedRequest; isAwaited: boolean };

function record(parts: GatewayParts, { exchange, admitted, isAwaited }: Ended): void {
  if (isLogged(exchange, exchange.refusal) && !isAwaited) parts.recorder.record(exchange);
  if (admitted.sendEnd) parts.recorder.whenSpooled(admitted.sendEnd);
  countEnded(parts.metrics, exchange);
}

/** The response to an error: one that is no GatewayError is a bug of ours. */
function gatewayErrorFor(parts: GatewayParts, error: unknown, requestId: string): GatewayError {
  if (error instanceof GatewayError) return error;
  parts.log.error({ err: error, requestId }, "a request failed in the gateway");
  return gatewayFailed();
}

/** A batch that is answered, and not refused as an HTTP request, is answered by a batch. */
function answeredIds({ peek }: Exchange, { status }: GatewayError): RpcId | readonly RpcId[] {
  if (peek.kind !== "batch" || status !== 200) return peek.id;
  return peek.messages.flatMap(({ kind, id }) => (kind === "request" ? [id] : []));
}

function refuse(
  parts: GatewayParts,
  { request, response, requestId }: { request: IncomingMessage; response: ServerResponse; requestId: string },
  refusal: GatewayError,
  rpcId: RpcId | readonly RpcId[] | undefined,
): number {
  parts.metrics.requestRefused(refusal.code);
  // A POST is taken for JSON-RPC even when it was refused before its body was read.
  const id = rpcId === undefined && request.method === "POST" ? null : rpcId;
  const headers = [requestIdHeader, requestId, ...corsHeaders(request.headers.origin)];
  const bytes = sendError(response, refusal, { rpcId: id, headers });
  if (!request.complete) discardBody(request);
  return bytes;
}
