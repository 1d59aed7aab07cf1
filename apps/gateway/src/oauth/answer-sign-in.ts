import type { IncomingMessage, ServerResponse } from "node:http";
import type { BlockList } from "node:net";
import { forwardedHeaders } from "../forward/headers.ts";
import { isNavigation } from "../policy/browsers.ts";
import { clientAddress } from "../policy/client-address.ts";
import { checkOrigin } from "../policy/origin.ts";
import { preflightPolicy } from "../policy/preflight.ts";
import type { SignIns } from "../record/sign-ins.ts";
import type { RouteTable } from "../route/route-table.ts";
import type { Destination, ServerAddress } from "../route/server-address.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { answerOAuth, type OAuthEndpoint, oauthEndpointOf } from "./endpoints.ts";

export type SignInParts = {
  serverAddress: ServerAddress;
  allowedOrigins: readonly string[];
  proxies: BlockList;
  routes: RouteTable;
  authorizationServer: AuthorizationServer;
  signIns: SignIns;
};

/** The request of an OAuth client to a server's origin, before it has a token. */
export function findOAuthEndpoint(
  parts: SignInParts,
  destination: Destination,
  request: IncomingMessage,
): OAuthEndpoint | null {
  if (destination.kind !== "server" && destination.kind !== "origin") return null;
  if (destination.kind === "server" && (destination.isMcp || !parts.routes.isLoaded)) return null;
  const route = destination.kind === "server" ? parts.routes.find(destination.label) : undefined;
  return oauthEndpointOf(destination, {
    address: parts.serverAddress,
    route,
    authorization: request.headers.authorization,
  });
}

type Asked = { endpoint: OAuthEndpoint; request: IncomingMessage; response: ServerResponse };

export async function answerSignIn(parts: SignInParts, { endpoint, request, response }: Asked): Promise<void> {
  const { serverAddress, authorizationServer, proxies } = parts;
  // A navigation is a person whom a client sends to sign in.
  if (!isNavigation(request)) checkOrigin(parts, request.headers.origin);
  if (preflightPolicy(parts, { request, response }) === "answered") return;
  const address = clientAddress(serverAddress, request, proxies);
  const forwarded = forwardedHeaders(serverAddress, endpoint.place ?? { label: "", domain: null }, address);
  await answerOAuth(endpoint, { address: serverAddress, authorizationServer, request, response, forwarded });
  const route = endpoint.place === null ? undefined : parts.routes.find(endpoint.place.label);
  // As with refusals, after the answer.
  if (route || endpoint.place === null) {
    setImmediate(() => parts.signIns.discovered(endpoint, route, { request, address }));
  }
}
