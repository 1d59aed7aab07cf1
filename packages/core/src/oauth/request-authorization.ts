import { randomToken, sha256 } from "@towpath/crypto";
import { oauthAuthorization, oauthClient } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context } from "../context/index.ts";
import { newId } from "../ids/index.ts";
import { requireClient } from "./clients.ts";
import { serverScope } from "./oauth.schema.ts";
import { OAuthError } from "./oauth-error.ts";
import { isRegisteredRedirectUri, redirectLocation } from "./redirect-uri.ts";
import { requireResource } from "./server-resource.ts";

/** How long people may take to sign in and decide. */
const requestMs = 15 * 60_000;
const maxStateLength = 4096;

/** The consent page's token, or where to send the browser with an error. */
export type RequestedAuthorization =
  | { readonly kind: "consent"; readonly request: string }
  | { readonly kind: "redirect"; readonly location: string };

/**
 * Checks and stores an authorization request (RFC 6749, section 4.1.1; OAuth 2.1). Nobody needs to be signed in: the
 * consent page asks for that. Once client and redirect URI are known to be right, errors go to the client.
 *
 * @throws OAuthError when client or redirect URI are wrong: show it, and don't redirect (section 4.1.2.1)
 */
export async function requestAuthorization(call: {
  ctx: Context;
  input: { readonly issuer: string; readonly parameters: URLSearchParams };
}): Promise<RequestedAuthorization> {
  const { ctx, input } = call;
  const parameters = readParameters(input.parameters);
  if (!parameters.client_id) throw new OAuthError("invalid_request", "The app did not say who it is (client_id).");
  const client = await requireClient(ctx, parameters.client_id);
  const redirectUri = parameters.redirect_uri ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : null);
  if (!redirectUri || !isRegisteredRedirectUri(client.redirectUris, redirectUri)) {
    throw new OAuthError(
      "invalid_request",
      "The app asked to send you to an address that it has not registered. Remove the server from the app and add it again.",
    );
  }
  const state = parameters.state;
  try {
    requireCodeWithPkce(parameters, input.parameters);
    const resource = await requireResource(ctx, parameters.resource);
    const request = randomToken();
    const now = ctx.clock.now();
    await ctx.db.insert(oauthAuthorization).values({
      ...{ id: newId(), requestHash: sha256(request), status: "pending", clientId: client.id },
      ...{ projectId: resource.projectId, redirectUri, state, codeChallenge: parameters.code_challenge ?? "" },
      ...{ resource: resource.url, scopes: [serverScope], createdAt: now },
      expiresAt: new Date(now.getTime() + requestMs),
    });
    await ctx.db.update(oauthClient).set({ lastUsedAt: now }).where(eq(oauthClient.id, client.id));
    return { kind: "consent", request };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const answer = { error: error.oauthCode, error_description: error.message, state, iss: input.issuer };
    return { kind: "redirect", location: redirectLocation(redirectUri, answer) };
  }
}

const names = [
  ...["client_id", "redirect_uri", "response_type", "state", "code_challenge", "code_challenge_method", "resource"],
] as const;
type Parameters = Readonly<Record<(typeof names)[number], string | null>>;

/** An empty parameter counts as missing (RFC 6749, section 3.1). */
const readParameters = (given: URLSearchParams): Parameters =>
  Object.fromEntries(names.map((name) => [name, given.get(name) || null])) as Parameters;

function requireCodeWithPkce(parameters: Parameters, given: URLSearchParams): void {
  const repeated = names.find((name) => given.getAll(name).length > 1);
  if (repeated === "resource") throw new OAuthError("invalid_target", "A token is for one server only.");
  if (repeated) throw new OAuthError("invalid_request", `The parameter ${repeated} is repeated.`);
  if (parameters.response_type !== "code") {
    throw new OAuthError("unsupported_response_type", 'The only supported response_type is "code".');
  }
  if ((parameters.state?.length ?? 0) > maxStateLength) {
    throw new OAuthError("invalid_request", `state is longer than ${maxStateLength} characters.`);
  }
  if (parameters.code_challenge_method !== "S256" || !/^[\w-]{43}$/.test(parameters.code_challenge ?? "")) {
    throw new OAuthError("invalid_request", "PKCE with code_challenge_method S256 is required.");
  }
}
