import { sha256 } from "@towpath/crypto";
import { connectFailure, EgressError } from "@towpath/egress";
import { unchanged } from "@towpath/secrets/redaction";
import type { AdmittedRequest } from "../forward/admitted-request.ts";
import { type ForwardEnd, type ForwardRequest, forward } from "../forward/forward.ts";
import { sessionIdHeader } from "../forward/headers.ts";
import { GatewayError, listWithheld } from "../gateway-error.ts";
import { corsHeaders } from "../policy/browsers.ts";
import { idForClient, type SessionIds, sessionNotFound } from "../policy/sessions.ts";
import type { ExternalTarget } from "../read-model/routes.ts";
import { answersOf } from "../record/exchange.ts";
import type { PendingCalls } from "../record/pending-calls.ts";
import type { Recorder } from "../record/recorder.ts";
import { externalRefused, externalTimedOut, noExternalAnswer, notConnected } from "./external-errors.ts";
import { headersForExternal, mayPassFromExternal } from "./external-headers.ts";
import type { ExternalUpstreams } from "./external-upstreams.ts";
import type { UpstreamCredentials } from "./upstream-credentials.ts";

export type ExternalParts = {
  externalUpstreams: ExternalUpstreams;
  upstreamCredentials: UpstreamCredentials;
  sessionIds: SessionIds;
  pendingCalls: PendingCalls;
  recorder: Recorder;
};

/** What tells the address of an external server from others: a session is good at the one where it began. */
const endpointOf = ({ externalServerId, url }: ExternalTarget): string =>
  sha256(`${externalServerId}\n${url}`).slice(0, 22);

/** A redirect, or a demand to sign in: the client must not follow either. */
const isLeftOut = (status: number): boolean => status === 401 || (status >= 300 && status < 400);

/**
 * Forwards a request to a server that runs elsewhere (ORG-9), once: to the address that was checked when the connection
 * was made, with the server's credential in place of the client's.
 *
 * @throws GatewayError 502 and 504 when it can't be reached, refuses Towpath or doesn't answer; 404 for other paths than
 * the MCP endpoint, and for a session that began at another address
 */
export async function proxyExternal(
  parts: ExternalParts,
  admitted: AdmittedRequest,
  target: ExternalTarget,
): Promise<void> {
  const { exchange, session, response } = admitted;
  if (!exchange.isMcp) {
    throw new GatewayError(
      "unknown_path",
      "This server runs elsewhere: only its MCP endpoint is served here, at /mcp.",
    );
  }
  const endpoint = endpointOf(target);
  if (session && session.session.instanceId !== endpoint) throw sessionNotFound();
  const found = parts.upstreamCredentials.find(exchange.route, target);
  const credential = found instanceof Promise ? await found : found;
  exchange.redactor = credential?.redactor ?? unchanged;
  if (response.destroyed) {
    exchange.end = "client-closed";
    return;
  }
  const { upstream, path } = dial(parts, target);
  const headers = headersForExternal(admitted.headers, credential);
  exchange.sentAt = performance.now();
  const outcome = await send(parts, { admitted, endpoint, upstream, path, headers });
  exchange.end = outcome.end;
  switch (outcome.end) {
    case "dial-failed":
      throw notConnected(outcome.failure ?? new EgressError("unreachable", ""));
    case "no-answer":
      throw noExternalAnswer();
    case "timed-out":
      throw externalTimedOut();
    case "left-out":
      throw externalRefused(outcome.status);
    case "withheld":
      throw listWithheld();
  }
}

function dial({ externalUpstreams }: ExternalParts, { externalServerId, url }: ExternalTarget) {
  try {
    return externalUpstreams.at(externalServerId, url);
  } catch (error) {
    throw error instanceof EgressError ? notConnected(error) : error;
  }
}

type Sent = {
  readonly admitted: AdmittedRequest;
  readonly endpoint: string;
  readonly upstream: ForwardRequest["upstream"];
  readonly path: string;
  readonly headers: string[];
};

/** `failure`: why no connection came about. `status`: of an answer that was left out. */
type Outcome = { readonly end: ForwardEnd; readonly failure: EgressError | null; readonly status: number };

async function send(parts: ExternalParts, { admitted, endpoint, ...to }: Sent): Promise<Outcome> {
  const { request, response, body, site, listedTools, exchange, owner, session } = admitted;
  let failure: EgressError | null = null;
  let status = 0;
  const end = await forward({
    ...to,
    ...{ body, response, site, listedTools, method: exchange.httpMethod, requestId: exchange.id },
    isLeftOut: (given) => {
      status = given;
      return isLeftOut(given);
    },
    mayPassHeader: mayPassFromExternal,
    failureOf: (error) => {
      failure = connectFailure(error, "");
      if (failure) return "dial-failed";
      return (error as NodeJS.ErrnoException).code === "UND_ERR_HEADERS_TIMEOUT" ? "timed-out" : "no-answer";
    },
    extraHeaders: corsHeaders(request.headers.origin),
    onStart: (given, headers) => {
      exchange.status = given;
      exchange.isStream = headers["content-length"] === undefined;
      exchange.answers = answersOf(exchange, headers);
      const holder = { deploymentId: null, instanceId: endpoint };
      return idForClient(parts.sessionIds, {
        ...{ owner, exchange, claim: session, holder },
        serverId: headers[sessionIdHeader],
      });
    },
    onData: (chunk) => {
      exchange.responseBytes += chunk.length;
      exchange.answers?.push(chunk);
      parts.pendingCalls.take(exchange);
      if (exchange.resumes === null && exchange.answers?.isStreamAnswered) parts.recorder.record(exchange);
    },
    whenRecorded: (callback) => parts.recorder.whenSpooled(callback),
    onWhole: (sendEnd) => {
      admitted.sendEnd = sendEnd;
    },
  });
  return { end, failure, status };
}
