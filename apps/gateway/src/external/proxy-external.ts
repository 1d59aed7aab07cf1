import { sha256 } from "@towpath/crypto";
import { connectFailure, EgressError } from "@towpath/egress";
import { unchanged } from "@towpath/secrets/redaction";
import { type Rest, undelivered } from "../call/answer.ts";
import type { Admitted } from "../call/states.ts";
import { type Forwarded, type ForwardParts, forward } from "../forward/forward.ts";
import { GatewayError, listWithheld } from "../gateway-error.ts";
import { sessionNotFound } from "../policy/sessions.ts";
import type { ExternalTarget } from "../read-model/routes.ts";
import { externalRefused, externalTimedOut, noExternalAnswer, notConnected } from "./external-errors.ts";
import { headersForExternal, mayPassFromExternal } from "./external-headers.ts";
import type { ExternalUpstreams } from "./external-upstreams.ts";
import type { UpstreamCredentials } from "./upstream-credentials.ts";

export type ExternalParts = ForwardParts & {
  externalUpstreams: ExternalUpstreams;
  upstreamCredentials: UpstreamCredentials;
};

/** Identifies the address of an external server: a session is valid only where it began. */
const endpointOf = ({ externalServerId, url }: ExternalTarget): string =>
  sha256(`${externalServerId}\n${url}`).slice(0, 22);

/** A redirect, or a request to sign in: the client must not follow either. */
const isLeftOut = (status: number): boolean => status === 401 || (status >= 300 && status < 400);

/**
 * Forwards a request to an external server (ORG-9), once: to the address that was checked when the connection was made,
 * with the server's credential in place of the client's.
 *
 * @throws GatewayError 502 and 504 when it can't be reached, refuses Towpath or doesn't answer; 404 for paths other
 * than the MCP endpoint, and for a session that began at another address
 */
export async function proxyExternal(parts: ExternalParts, admitted: Admitted, target: ExternalTarget): Promise<Rest> {
  const { call, received, session } = admitted;
  const { answer } = received;
  if (!received.isMcp) {
    throw new GatewayError(
      "unknown_path",
      "This server runs elsewhere: only its MCP endpoint is served here, at /mcp.",
    );
  }
  const endpoint = endpointOf(target);
  if (session && session.session.instanceId !== endpoint) throw sessionNotFound();
  const found = parts.upstreamCredentials.find(call.route, target);
  const credential = found instanceof Promise ? await found : found;
  answer.redactor = credential?.redactor ?? unchanged;
  if (call.response.destroyed) {
    answer.end = "client-closed";
    return "over";
  }
  const { upstream, path } = dial(parts, target);
  answer.delivery = { ...undelivered, sentAt: performance.now() };
  const forwarded = await forward(parts, admitted, {
    dispatcher: upstream,
    path,
    headers: headersForExternal(admitted.headers, credential),
    holder: { deploymentId: null, instanceId: endpoint },
    isLeftOut,
    mayPassHeader: mayPassFromExternal,
    // A call that its client leaves may take as long as the project says.
    ...(admitted.kept && { answerMs: parts.externalUpstreams.answerMs }),
  });
  if (forwarded.end === "failed") throw failed(admitted, forwarded.error);
  return restOf(forwarded);
}

/** The request may have been sent, and got no answer. */
function failed({ received }: Admitted, error: Error): GatewayError {
  const failure = connectFailure(error, "");
  const isTimeout = (error as NodeJS.ErrnoException).code === "UND_ERR_HEADERS_TIMEOUT";
  received.answer.end = failure ? "dial-failed" : isTimeout ? "timed-out" : "no-answer";
  if (failure) return notConnected(failure);
  return isTimeout ? externalTimedOut() : noExternalAnswer();
}

function restOf(forwarded: Exclude<Forwarded, { end: "failed" }>): Rest {
  switch (forwarded.end) {
    case "complete":
      return forwarded.sendEnd;
    case "left-out":
      throw externalRefused(forwarded.status);
    case "withheld":
      throw listWithheld();
    default:
      return "over";
  }
}

function dial({ externalUpstreams }: ExternalParts, { externalServerId, url }: ExternalTarget) {
  try {
    return externalUpstreams.at(externalServerId, url);
  } catch (error) {
    throw error instanceof EgressError ? notConnected(error) : error;
  }
}
