import { randomUUID } from "node:crypto";
import { clientAddressHeader, limitRequests } from "@towpath/auth";
import { verifyAccessToken } from "@towpath/auth/credentials";
import {
  approveRemembered,
  type ClientCredentials,
  exchangeAssertion,
  exchangeCode,
  type IssuedTokens,
  OAuthError,
  refreshTokens,
  registerClient,
  requestAuthorization,
  revokeToken,
} from "@towpath/core/calling/oauth";
import type { FullContext } from "@towpath/core/context";
import { asTowpathError, TowpathError } from "@towpath/core/errors";
import { sha256 } from "@towpath/crypto";
import { networkOf } from "@towpath/limits";
import { services } from "~/compose.server.ts";
import { parseJsonObject, readBody, redirectTo } from "~/http/request.server.ts";
import { anyOrigin, jwtBearer } from "./metadata.server.ts";

const maxBytes = 64 * 1024;

/** Requests per minute from one address. Hosted clients send all their users' requests from a few addresses. */
const limits = { authorize: 120, register: 60, token: 600, revoke: 600 } as const;
/** Of one refresh token, so that a client that never stops leaves the others at its address theirs. */
const renewalsOfToken = 60;

/** `isProgram`: a client's own program sends the request, not a person's browser. */
function asClient(request: Request, { isProgram }: { readonly isProgram: boolean }): FullContext {
  const address = request.headers.get(clientAddressHeader);
  const agent = isProgram ? request.headers.get("user-agent") : null;
  const { contextFor, signIns } = services();
  const ctx = contextFor({ kind: "job", job: "oauth" });
  return { ...ctx, recordSignInStep: (step) => signIns.record({ ...step, address, agent }) };
}

const asProgram = (request: Request) => asClient(request, { isProgram: true });

/** The answer to a browser's preflight request. */
export const preflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...anyOrigin,
      "access-control-allow-methods": "GET, POST",
      "access-control-allow-headers": "authorization, content-type, mcp-protocol-version",
      "access-control-max-age": "600",
    },
  });

/** @throws TooManyRequests */
async function limit(request: Request, endpoint: keyof typeof limits): Promise<void> {
  const address = networkOf(request.headers.get(clientAddressHeader) ?? "");
  await limitTo(`oauth ${endpoint} ${address}`, limits[endpoint]);
}

async function limitTo(key: string, max: number): Promise<void> {
  const seconds = await limitRequests(services().database.db, { key, max });
  if (seconds > 0) throw new TooManyRequests(seconds);
}

class TooManyRequests extends TowpathError {
  readonly seconds: number;
  constructor(seconds: number) {
    super("limit_reached", `Too many requests from this IP address. Try again in ${seconds} seconds.`);
    this.seconds = seconds;
  }
}

/** A refused authorization request, for a page. `back`: the client's redirect URI, with the error. */
export type RefusedAuthorization = {
  readonly reason: string;
  readonly back: { readonly location: string; readonly host: string } | null;
};

/** Redirects to the consent page or to the client. Throws what must not be sent to the client, for the page. */
export async function authorizeResponse(request: Request): Promise<Response | RefusedAuthorization> {
  await limit(request, "authorize");
  const { searchParams } = new URL(request.url);
  // Clients of 2025-03-26 can't name a server, so the person chooses it.
  if (!searchParams.get("resource") && searchParams.has("client_id")) {
    searchParams.delete("resource");
    const asked = Buffer.from(String(searchParams)).toString("base64url");
    return redirectTo(`/oauth/choose-server?request=${asked}`);
  }
  const result = await requestAuthorization({
    ctx: asClient(request, { isProgram: false }),
    input: { issuer: services().config.baseUrl, parameters: searchParams },
  });
  if (result.kind === "refused") {
    const { reason, location, host } = result;
    return { reason, back: { location, host } };
  }
  if (result.kind === "redirect") return redirectTo(result.location);
  const remembered = mayBeSilent(request) ? await rememberedLocation(request, result.request) : null;
  return redirectTo(remembered ?? `/oauth/consent?request=${result.request}`);
}

/** A page of its own, not a frame, and a client that doesn't ask for the person (OpenID Connect Core, section 3.1.2.1). */
function mayBeSilent(request: Request): boolean {
  const prompt = new URL(request.url).searchParams.get("prompt") || "none";
  return (request.headers.get("sec-fetch-dest") ?? "document") === "document" && prompt === "none";
}

/** Where to send the browser of a person who is signed in and chose not to be asked again; null to ask. */
async function rememberedLocation(request: Request, asked: string): Promise<string | null> {
  const { auth, contextFor, config } = services();
  const signedIn = await auth.session(request.headers);
  if (!signedIn) return null;
  const ipAddress = request.headers.get(clientAddressHeader);
  const ctx = contextFor({ kind: "user", userId: signedIn.user.id, ipAddress });
  const input = { request: asked, issuer: config.baseUrl };
  return (await approveRemembered({ ctx, input }))?.location ?? null;
}

/** RFC 7591, section 3. */
export const registerResponse = (request: Request): Promise<Response> =>
  respond(request, "register", async () => {
    const metadata = parseJsonObject(await readBody(request, maxBytes));
    return json(201, await registerClient({ ctx: asProgram(request), input: { metadata } }));
  });

/** RFC 6749, section 3.2. */
export const tokenResponse = (request: Request): Promise<Response> =>
  respond(request, null, async () => {
    const form = await readForm(request);
    const refreshToken = form.get("refresh_token");
    if (refreshToken) await limitTo(`oauth refresh ${refreshToken}`, renewalsOfToken);
    await limit(request, "token");
    const credentials = credentialsOf(request, form);
    const resource = form.get("resource") || null;
    const type = form.get("grant_type");
    if (type === "authorization_code") {
      const input = {
        ...credentials,
        resource,
        code: form.get("code"),
        redirectUri: form.get("redirect_uri") || null,
        codeVerifier: form.get("code_verifier"),
      };
      return json(200, await tokens(await exchangeCode({ ctx: asProgram(request), input })));
    }
    if (type === "refresh_token") {
      const network = networkOf(request.headers.get(clientAddressHeader) ?? "");
      const program = sha256(`${network}\n${request.headers.get("user-agent")}`);
      const input = { ...credentials, resource, refreshToken, program };
      return json(200, await tokens(await refreshTokens({ ctx: asProgram(request), input })));
    }
    if (type === jwtBearer) {
      const issuer = services().config.baseUrl;
      const input = { ...credentials, resource, assertion: form.get("assertion"), issuer };
      return json(200, await tokens(await exchangeAssertion({ ctx: asProgram(request), input })));
    }
    const description = `grant_type must be authorization_code, refresh_token or ${jwtBearer}.`;
    throw new OAuthError("unsupported_grant_type", description);
  });

/** RFC 7009, section 2. */
export const revokeResponse = (request: Request): Promise<Response> =>
  respond(request, "revoke", async () => {
    const form = await readForm(request);
    const token = form.get("token");
    if (!token) throw new OAuthError("invalid_request", "token is missing.");
    const accessToken = await verifyAccessToken({ token, resource: null, keys: services().signingKeys });
    await revokeToken({ ctx: asProgram(request), input: { ...credentialsOf(request, form), token, accessToken } });
    return json(200, {});
  });

/** The response of RFC 6749, section 5.1, with an access token in the form of RFC 9068. */
async function tokens(issued: IssuedTokens): Promise<Readonly<Record<string, unknown>>> {
  const scope = issued.scopes.join(" ");
  const { token, expiresAt } = await services().signingKeys.sign({
    typ: "at+jwt",
    ttlSeconds: issued.accessSeconds,
    claims: {
      sub: issued.userId,
      aud: issued.resource,
      client_id: issued.clientId,
      scope,
      jti: randomUUID(),
      towpath_grant: issued.grantId,
      towpath_family: issued.familyId,
      // So that the first call can be shown as the end of this sign-in.
      ...(issued.authorizationId === null ? {} : { towpath_authorization: issued.authorizationId }),
    },
  });
  return {
    access_token: token,
    token_type: "Bearer",
    expires_in: Math.min(issued.accessSeconds, Math.ceil((expiresAt.getTime() - Date.now()) / 1000)),
    scope,
    ...(issued.refreshToken === null ? {} : { refresh_token: issued.refreshToken }),
  };
}

async function readForm(request: Request): Promise<URLSearchParams> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(type)) {
    throw new OAuthError("invalid_request", "Send the parameters as application/x-www-form-urlencoded.");
  }
  const form = new URLSearchParams(new TextDecoder().decode(await readBody(request, maxBytes)));
  const repeated = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1);
  if (repeated !== undefined) throw new OAuthError("invalid_request", "A parameter is repeated.");
  return form;
}

/** From the Authorization header (RFC 6749, section 2.3.1) or the body, not both. */
function credentialsOf(request: Request, form: URLSearchParams): ClientCredentials {
  const inBody = { clientId: form.get("client_id"), clientSecret: form.get("client_secret") };
  const basic = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (basic === undefined) return inBody;
  const [id = "", ...secret] = Buffer.from(basic, "base64").toString("utf8").split(":");
  const inHeader = { clientId: formDecoded(id), clientSecret: formDecoded(secret.join(":")) };
  if (inBody.clientSecret !== null || (inBody.clientId !== null && inBody.clientId !== inHeader.clientId)) {
    throw new OAuthError("invalid_request", "The client authenticates in two ways. Use the header or the body.");
  }
  return inHeader;
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json(body, { status, headers: { ...anyOrigin, "cache-control": "no-store", ...headers } });

/** Runs an endpoint; errors become those of RFC 6749, section 5.2. `endpoint`: null for one that limits requests itself. */
async function respond(
  request: Request,
  endpoint: keyof typeof limits | null,
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    if (endpoint !== null) await limit(request, endpoint);
    return await work();
  } catch (thrown) {
    if (thrown instanceof TooManyRequests) {
      const body = { error: "temporarily_unavailable", error_description: thrown.message };
      return json(429, body, { "retry-after": String(thrown.seconds) });
    }
    const error = asTowpathError(thrown);
    if (error.code === "internal") {
      services().log.error({ err: thrown, path: new URL(request.url).pathname }, "request failed");
      return json(500, { error: "server_error", error_description: error.message });
    }
    const code = error instanceof OAuthError ? error.oauthCode : "invalid_request";
    const challenge = code === "invalid_client" && request.headers.has("authorization");
    return json(
      code === "invalid_client" ? 401 : 400,
      { error: code, error_description: error.message },
      challenge ? { "www-authenticate": 'Basic realm="towpath"' } : {},
    );
  }
}
