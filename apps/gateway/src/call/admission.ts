import { callerNameHeader } from "@towpath/auth/credentials";
import { peekRequest } from "@towpath/mcp/peek";
import { traceparentOf } from "@towpath/telemetry";
import { siteOf } from "../forward/cookies.ts";
import {
  forwardedHeaders,
  headerOf,
  headersForServer,
  sessionIdHeader,
  withoutCompression,
} from "../forward/headers.ts";
import type { Limits } from "../limits/limits.ts";
import { openCallsPolicy, ratePolicy } from "../limits/policies.ts";
import { formPolicy } from "../platform/continue-page.ts";
import { accessPolicy } from "../policy/access.ts";
import type { Authenticate, Principal } from "../policy/credentials.ts";
import type { OpenResponses } from "../policy/open-responses.ts";
import { originPolicy } from "../policy/origin.ts";
import { preflightPolicy } from "../policy/preflight.ts";
import { claimSession, headersOfSession, type SessionIds } from "../policy/sessions.ts";
import { checkTools } from "../policy/tools.ts";
import { serverFor, versionFor } from "../policy/versions.ts";
import { deploymentOf } from "../read-model/routes.ts";
import type { Redactors } from "../record/redactors.ts";
import { requestIdHeader } from "../record/request-id.ts";
import type { SignIns } from "../record/sign-ins.ts";
import type { ServerAddress } from "../route/server-address.ts";
import {
  type Admitted,
  type Call,
  type Identified,
  inSession,
  type Read,
  type Received,
  type RoutedCall,
} from "./states.ts";

export type AdmissionParts = {
  serverAddress: ServerAddress;
  authenticate: Authenticate;
  openResponses: OpenResponses;
  limits: Limits;
  sessionIds: SessionIds;
  redactors: Redactors;
  signIns: SignIns;
};

/** All policies, in order, by what is known of the call: its head, its caller, and its body. */
export const policies = {
  onArrival: [originPolicy, preflightPolicy],
  onceIdentified: [accessPolicy, openCallsPolicy],
  onceRead: [ratePolicy, formPolicy],
} as const;

/** Identifies the caller by the server's mode of authentication. @throws GatewayError */
export function authenticate(parts: AdmissionParts, call: Call): Promise<Principal> | Principal {
  const { request, target } = call;
  const name = headerOf(request, callerNameHeader);
  const { authorization } = request.headers;
  return parts.authenticate(call.route, {
    authorization,
    name,
    url: target.path,
    label: target.label,
    domain: target.domain,
  });
}

/** Call it in the same turn in which the credentials were accepted. */
export function identify(
  parts: AdmissionParts,
  received: Received,
  { call, principal }: Pick<Identified, "call" | "principal">,
): Identified {
  const { portal, route, response, address } = call;
  // Not before: a stranger's request must not cause secrets to be decrypted.
  const deployed = deploymentOf(route);
  // What is refused before it is admitted may contain the caller's own values, too.
  received.answer.redactor = parts.redactors.find(serverFor(route, deployed, principal) ?? deployed);
  if (!portal) parts.signIns.accepted(route, principal, call);
  parts.openResponses.watch(response, principal, received);
  const limits = parts.limits.of(route, { principal, address, isThroughPortal: portal !== null });
  return { call, received, principal, limits };
}

export function read({ call, received, principal, limits }: Identified, body: Buffer): Read {
  const peek = peekRequest(body, received.hints);
  return { call, received, principal, limits, body, bodyBytes: body.length, peek };
}

/**
 * Checks what the request names, and prepares it for its server. `assertion`: the signed identity of its caller.
 *
 * @throws GatewayError
 */
export function admit(
  parts: AdmissionParts,
  { call, received, principal, limits, body, bodyBytes, peek }: Read,
  assertion: string | null,
): Admitted {
  const { request, route, target } = call;
  const { label, domain, isMcp } = target;
  const site = siteOf(parts.serverAddress, { label, domain, isMcp, cookiesSent: request.headers.cookie });
  const passed = headersForServer(request.rawHeaders, {
    principal,
    assertion,
    forwarded: addedHeaders(parts.serverAddress, call, received),
    site,
    isTraced: received.trace !== null,
  });
  const tools = route.access?.tools ?? null;
  const listedTools = tools && checkTools(tools, { request, isMcp, body }) ? tools : null;
  const owner = { projectId: route.projectId, label, principal: principal.id };
  const claim = claimSession(parts.sessionIds, headerOf(request, sessionIdHeader), owner);
  const deploymentId = claim ? claim.session.deploymentId : versionFor(route, { call, principal, peek });
  const server = serverFor(route, deploymentId, principal);
  // Of a session, it may be another deployment.
  received.answer.redactor = parts.redactors.find(server ?? deploymentId);
  const own = claim ? headersOfSession(passed, claim.session) : passed;
  return {
    call,
    received,
    principal,
    limits,
    body,
    bodyBytes,
    peek,
    owner,
    session: claim && inSession(claim),
    deploymentId,
    server,
    site,
    headers: listedTools ? withoutCompression(own) : own,
    listedTools,
    change: null,
    kept: null,
  };
}

function addedHeaders(address: ServerAddress, call: RoutedCall, { trace }: Received): string[] {
  const added = forwardedHeaders(address, call.target, call.address);
  added.push(requestIdHeader, call.id);
  if (trace) added.push("traceparent", traceparentOf(trace));
  return added;
}
