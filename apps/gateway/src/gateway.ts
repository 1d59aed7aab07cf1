import type { IncomingMessage, ServerResponse } from "node:http";
import { authenticate, policies } from "./call/admission.ts";
import { type CallParts, callServer } from "./call/call-server.ts";
import { refusalFor, refuse } from "./call/refuse.ts";
import { type Call, isRouted } from "./call/states.ts";
import { GatewayError, unknownServer, withoutSignIn } from "./gateway-error.ts";
import { answerSignIn, findOAuthEndpoint, type SignInParts } from "./oauth/answer-sign-in.ts";
import { isForPeople, showEndpoint } from "./platform/endpoint-page.ts";
import { clientAddress } from "./policy/client-address.ts";
import { applyPolicies } from "./policy/policy.ts";
import { newRequestId } from "./record/request-id.ts";
import { type Destination, destinationOf } from "./route/server-address.ts";
import { checkRequest } from "./wire/check-request.ts";

export type GatewayParts = CallParts &
  SignInParts & {
    /** Origin of the dashboard. */
    dashboard: string;
    /** The gateway's own pages (text, health, metrics). */
    platform: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>;
  };

type Incoming = Pick<Call, "id" | "time" | "address"> & {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
};

/** The data plane: finds the route of each request, and calls its server. */
export function createGateway(
  given: Omit<GatewayParts, "callServer">,
): (request: IncomingMessage, response: ServerResponse) => void {
  const parts: GatewayParts = { ...given, callServer: (call) => callServer(parts, call) };
  return (request, response) => {
    parts.metrics.requestStarted();
    const time = Date.now();
    const address = clientAddress(parts.serverAddress, request, parts.proxies);
    const incoming = { id: newRequestId(time), time, address, request, response };
    handle(parts, incoming).catch((error: unknown) => {
      const refusal = refusalFor(parts, error, incoming.id);
      return refuse(parts, { ...incoming, body: request }, { refusal });
    });
  };
}

async function handle(parts: GatewayParts, incoming: Incoming): Promise<void> {
  const { request, response } = incoming;
  checkRequest(request);
  // Route: find the server.
  const destination = destinationOf(
    parts.serverAddress,
    request.headers.host,
    request.url ?? "",
    parts.routes.labelOfDomain,
  );
  if (destination.kind === "platform") return parts.platform(request, response, destination.path);
  if (parts.routes.opening) await parts.routes.opening;
  const oauth = findOAuthEndpoint(parts, destination, request);
  if (oauth) return answerSignIn(parts, { endpoint: oauth, request, response });
  const call = route(parts, incoming, destination);
  if (call.target.isMcp && isForPeople(request)) {
    await showEndpoint(parts, call);
    request.resume();
    return;
  }
  return isRouted(call) ? callServer(parts, call) : refuseUnknown(parts, call);
}

function route(
  parts: GatewayParts,
  { id, time, address, request, response }: Incoming,
  destination: Destination,
): Call {
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
  return { id, time, address, request, body: request, response, target: destination, route: found, portal: null };
}

/** To strangers, an unknown name looks like a private server. It leaves no row. @throws GatewayError */
async function refuseUnknown(parts: GatewayParts, call: Call): Promise<void> {
  if (applyPolicies(policies.onArrival, parts, call) === "answered") return;
  await authenticate(parts, call);
  throw unknownServer();
}
