import type { IncomingMessage, ServerResponse } from "node:http";
import type { BlockList } from "node:net";
import { forwardedHeaders } from "../forward/headers.ts";
import { answerPreflight, checkOrigin, isNavigation, isPreflight } from "../policy/browsers.ts";
import { clientAddress } from "../policy/client-address.ts";
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

/** What an OAuth client asks of the platform at a server's origin, before it has a token. */
export function findOAuthEndpoint(
  parts: SignInParts,
  destination: Destination,
  request: IncomingMessage,
): OAuthEndpoint | null {
  if (destination.kind !== "server" && destination.kind !== "origin") return null;
  if (destination.kind === "server" && (destination.isMcp || !parts.routes.isLoaded)) return null;
  const { form } = parts.serverAddress;
  const route = destination.kind === "server" ? parts.routes.find(destination.label) : undefined;
  return oauthEndpointOf(destination, { form, route, authorization: request.headers.authorization });
}

type Asked = { endpoint: OAuthEndpoint; request: IncomingMessage; response: ServerResponse };

export async function answerSignIn(parts: SignInParts, { endpoint, request, response }: Asked): Promise<void> {
  const { serverAddress, authorizationServer, allowedOrigins: allowed, proxies } = parts;
  // A navigation is a person whom their client's page sends to sign in.
  if (!isNavigation(request)) {
    checkOrigin(request.headers.origin, { isLoopback: serverAddress.isLoopback, allowed });
  }
  if (isPreflight(request)) return answerPreflight(request, response);
  const client = clientAddress(serverAddress, request, proxies);
  const forwarded = forwardedHeaders(serverAddress, endpoint.label ?? "", client);
  await answerOAuth(endpoint, { address: serverAddress, authorizationServer, request, response, forwarded });
  const route = endpoint.label === null ? undefined : parts.routes.find(endpoint.label);
  // As with refusals: once the answer was sent.
  if (route || endpoint.label === null) {
    setImmediate(() => parts.signIns.discovered(endpoint, route, request));
  }
}
