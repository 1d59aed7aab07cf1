import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../gateway-error.ts";
import { readBody } from "../policy/body.ts";
import { corsHeaders } from "../policy/browsers.ts";
import type { Admission } from "../policy/capacity.ts";
import type { Route } from "../read-model/routes.ts";
import { type Destination, hostOf, type Place, type ServerAddress } from "../route/server-address.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { resourceMetadata, resourceOf } from "./resource.ts";

/** Registrations are the largest: metadata with at most some dozens of URLs. */
const maxBodyBytes = 64 * 1024;

/** Requests of OAuth clients to the origin of an MCP server, before they have a token. */
export type OAuthEndpoint =
  | { kind: "resource-metadata"; place: Place }
  /** `place`: null where several servers share the origin and the path names none. */
  | { kind: "server-metadata" | "authorize" | "token" | "register"; place: Place | null };

/**
 * The platform's endpoint that a request is for; null for a path of the server itself. Servers in towpath-cloud mode
 * have these endpoints, and so do unused names: the documents depend on the name alone, so names can't be probed.
 * Callers with a token reach the server at any path.
 */
export function oauthEndpointOf(
  destination: Extract<Destination, { kind: "server" | "origin" }>,
  {
    address,
    route,
    authorization,
  }: { address: ServerAddress; route: Route | undefined; authorization: string | undefined },
): OAuthEndpoint | null {
  const { path } = destination;
  const pathName = path.split("?", 1)[0] ?? "";
  if (destination.kind === "origin") return originEndpoints[pathName] ?? null;
  if (route && route.authMode !== "towpath-cloud") return null;
  const { label, domain, isWellKnown } = destination;
  const place = { label, domain };
  if (isWellKnown) {
    const [, what = "", end = ""] = /^\/\.well-known\/([^/]+)(.*)$/.exec(pathName) ?? [];
    const isOfServer = end === `/${label}/mcp`;
    // Below the server's address: documents of its origin, or of its prefix.
    const isOfOrigin = end === "" || end === "/mcp";
    if (what === "oauth-protected-resource" && (isOfServer || isOfOrigin)) return { kind: "resource-metadata", place };
    const isMetadata = what === "oauth-authorization-server" || what === "openid-configuration";
    if (isMetadata && (isOfServer || isOfOrigin || end === `/${label}`)) return { kind: "server-metadata", place };
    return null;
  }
  if (hostOf(address, place).form === "path" || /^bearer /i.test(authorization ?? "")) return null;
  const endpoint = originEndpoints[pathName];
  return endpoint ? { kind: endpoint.kind, place } : null;
}

const originEndpoints: Readonly<
  Record<string, { kind: "server-metadata" | "authorize" | "token" | "register"; place: null }>
> = {
  "/.well-known/oauth-authorization-server": { kind: "server-metadata", place: null },
  "/authorize": { kind: "authorize", place: null },
  "/token": { kind: "token", place: null },
  "/register": { kind: "register", place: null },
};

type Asked = {
  address: ServerAddress;
  authorizationServer: AuthorizationServer;
  request: IncomingMessage;
  response: ServerResponse;
  /** Headers with the caller's address for the authorization server. */
  forwarded: readonly string[];
};

/** @throws GatewayError 405, 413, 503 */
export async function answerOAuth(endpoint: OAuthEndpoint, asked: Asked): Promise<void> {
  const { address, authorizationServer, request, response } = asked;
  const resource = endpoint.place && resourceOf(address, endpoint.place);
  const isPosted = endpoint.kind === "token" || endpoint.kind === "register";
  requireMethod(request, isPosted ? ["POST"] : ["GET", "HEAD"]);
  switch (endpoint.kind) {
    case "resource-metadata":
      return sendDocument(asked, resourceMetadata(resourceOf(address, endpoint.place), authorizationServer.issuer));
    case "server-metadata": {
      const metadata = await authorizationServer.metadata();
      const { place } = endpoint;
      if (place === null || hostOf(address, place).form === "path") return sendDocument(asked, metadata);
      // Clients that use this don't know resource indicators: the origin's own endpoint adds the server's.
      const { origin } = new URL(resourceOf(address, place).url);
      return sendDocument(asked, { ...metadata, authorization_endpoint: `${origin}/authorize` });
    }
    case "authorize": {
      const url = new URL((await authorizationServer.metadata()).authorization_endpoint);
      for (const [name, value] of queryOf(request)) url.searchParams.append(name, value);
      if (resource && !url.searchParams.has("resource")) url.searchParams.set("resource", resource.url);
      response.writeHead(302, ["location", url.href, "cache-control", "no-store", "content-length", "0"]);
      response.end();
      return;
    }
    default: {
      const body = await readBody(request, upTo(maxBodyBytes));
      // The client has disconnected.
      if (body === null) return;
      const sent = { headers: request.headers, body, forwarded: asked.forwarded };
      const name = endpoint.kind === "token" ? "token_endpoint" : "registration_endpoint";
      const answer = await authorizationServer.post(name, sent);
      const headers = ["content-length", String(answer.body.length), ...corsHeaders(request.headers.origin)];
      response.writeHead(answer.status, [...answer.headers, ...headers]);
      response.end(answer.body);
    }
  }
}

function sendDocument({ request, response }: Asked, document: object): void {
  const body = Buffer.from(JSON.stringify(document));
  response.writeHead(200, [
    "content-type",
    "application/json",
    "content-length",
    String(body.length),
    "cache-control",
    "no-store",
    ...corsHeaders(request.headers.origin),
  ]);
  response.end(request.method === "HEAD" ? undefined : body);
}

function requireMethod(request: IncomingMessage, allowed: readonly string[]): void {
  if (allowed.includes(request.method ?? "")) return;
  const allow = allowed.join(", ");
  throw new GatewayError("method_not_allowed", `This OAuth endpoint takes ${allow} only.`, { allow });
}

function queryOf(request: IncomingMessage): URLSearchParams {
  const url = request.url ?? "";
  const at = url.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : url.slice(at + 1));
}

/** Accepts a body of at most this many bytes. */
function upTo(maxBytes: number): Admission {
  let heldBytes = 0;
  return {
    hold(bytes) {
      heldBytes += bytes;
      if (heldBytes > maxBytes) throw new GatewayError("body_too_large", "The body is larger than 64 KiB.");
    },
  };
}
