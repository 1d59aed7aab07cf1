import { randomToken, sha256 } from "@towpath/crypto";
import { oauthAuthorization, oauthClient } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { appOf, type ClientRow, requireClient } from "./clients.ts";
import { serverScope } from "./oauth.schema.ts";
import { isConnected } from "./oauth.store.ts";
import { OAuthError } from "./oauth-error.ts";
import { flowOf, type KnownOfStep, recordedStep } from "./record-step.ts";
import {
  isLoopbackAlias,
  isRegisteredRedirectUri,
  redirectDifference,
  redirectHost,
  redirectLocation,
} from "./redirect-uri.ts";
import { requireResource } from "./server-resource.ts";

/** How long people may take to sign in and decide. */
const requestMs = 15 * 60_000;
const maxStateLength = 4096;

/**
 * The consent page's token, or where to send the browser with an error. `refused`: only once the person has seen where
 * that is (`host`), and why (`reason`).
 */
export type RequestedAuthorization =
  | { readonly kind: "consent"; readonly request: string }
  | { readonly kind: "redirect"; readonly location: string }
  | { readonly kind: "refused"; readonly location: string; readonly host: string; readonly reason: string };

/**
 * Checks and stores an authorization request (RFC 6749, section 4.1.1; OAuth 2.1). Nobody needs to be signed in: the
 * consent page asks for that. Once client and redirect URI are known to be right, errors go to the client. Anyone can
 * register a client, whose errors would make of this address a link to anywhere (RFC 9700, section 4.11.2): browsers
 * are sent on at once only for a client that somebody has connected.
 *
 * @throws OAuthError when client or redirect URI are wrong: show it, and don't redirect (section 4.1.2.1)
 */
export async function requestAuthorization(call: {
  ctx: Context<"fetchDocument" | "recordSignInStep">;
  input: { readonly issuer: string; readonly parameters: URLSearchParams };
}): Promise<RequestedAuthorization> {
  const { ctx, input } = call;
  const parameters = readParameters(input.parameters);
  const { resource, state } = parameters;
  const step = { kind: "authorization", resource } as const;
  // Where errors go, once it is known to be right.
  const checked: { redirectUri: string | null; clientId: string } = { redirectUri: null, clientId: "" };
  try {
    return await recordedStep(ctx, step, async (known) => {
      known.flow = flowOf({ challenge: parameters.code_challenge, state });
      const client = await clientOf(ctx, parameters, known);
      const redirectUri = redirectUriOf(client, parameters, known);
      Object.assign(checked, { redirectUri, clientId: client.id });
      requireCodeWithPkce(parameters, input.parameters);
      const { projectId, url } = await requireResource(ctx, resource);
      const id = newId();
      Object.assign(known, { projectId, authorizationId: id });
      return { kind: "consent", request: await store(ctx, { id, client, redirectUri, projectId, url, parameters }) };
    });
  } catch (error) {
    const { redirectUri } = checked;
    if (!(error instanceof OAuthError) || redirectUri === null) throw error;
    const answer = { error: error.oauthCode, error_description: error.message, state, iss: input.issuer };
    const location = redirectLocation(redirectUri, answer);
    if (await isConnected(ctx.db, checked.clientId)) return { kind: "redirect", location };
    return { kind: "refused", location, host: redirectHost(redirectUri), reason: error.message };
  }
}

async function clientOf(
  ctx: Context<"fetchDocument" | "recordSignInStep">,
  { client_id: clientId }: Parameters,
  known: KnownOfStep,
): Promise<ClientRow> {
  if (!clientId) {
    const problem = "client_missing";
    throw new OAuthError("invalid_request", "The app did not say who it is (client_id).", { problem });
  }
  known.clientId = clientId;
  const client = await requireClient(ctx, clientId);
  known.clientName = client.name;
  return client;
}

function redirectUriOf(client: ClientRow, { redirect_uri: given }: Parameters, known: KnownOfStep): string {
  const redirectUri = given ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : undefined);
  if (redirectUri !== undefined && isRegisteredRedirectUri(client.redirectUris, redirectUri)) return redirectUri;
  const difference = redirectUri === undefined ? null : redirectDifference(client.redirectUris, redirectUri);
  known.detail = difference;
  if (redirectUri !== undefined && isLoopbackAlias(client.redirectUris, redirectUri)) {
    known.fault = "redirect_alias";
    return redirectUri;
  }
  throw new OAuthError(
    "invalid_request",
    `The app asked to send you to an address it has not registered.${difference === null ? "" : ` ${difference}`} Remove the server from the app and add it again.`,
    { problem: "redirect_not_registered" },
  );
}

type Accepted = {
  readonly id: string;
  readonly client: ClientRow;
  readonly redirectUri: string;
  readonly projectId: string;
  /** The server's. */
  readonly url: string;
  readonly parameters: Parameters;
};

/** Returns the token of the consent page. */
async function store(ctx: Context, accepted: Accepted): Promise<string> {
  const { id, client, redirectUri, projectId, url, parameters } = accepted;
  const request = randomToken();
  const now = ctx.clock.now();
  await ctx.db.insert(oauthAuthorization).values({
    id,
    requestHash: sha256(request),
    status: "pending",
    clientId: client.id,
    projectId,
    redirectUri,
    state: parameters.state,
    codeChallenge: parameters.code_challenge ?? "",
    resource: url,
    scopes: [serverScope],
    createdAt: now,
    expiresAt: new Date(now.getTime() + requestMs),
  });
  // Those from before have no app yet.
  await ctx.db
    .update(oauthClient)
    .set({ lastUsedAt: now, app: appOf(client) })
    .where(eq(oauthClient.id, client.id));
  return request;
}

const names = [
  "client_id",
  "redirect_uri",
  "response_type",
  "state",
  "code_challenge",
  "code_challenge_method",
  "resource",
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
    const problem = "pkce_missing";
    throw new OAuthError("invalid_request", "PKCE with code_challenge_method S256 is required.", { problem });
  }
}
