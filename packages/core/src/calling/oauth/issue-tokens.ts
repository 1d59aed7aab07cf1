import { equalInConstantTime, sha256 } from "@towpath/crypto";
import { oauthAuthorization, oauthGrant } from "@towpath/db/schema";
import { and, eq, gt } from "drizzle-orm";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { authorizeCaller } from "../access/internal.ts";
import { authenticateClient, type ClientCredentials } from "./authenticate-client.ts";
import { appOf, type ClientRow } from "./clients.ts";
import { addRefreshToken, endFamily, markUsed, neverRenews } from "./families.ts";
import { OAuthError } from "./oauth-error.ts";
import { flowOf, type KnownOfStep, recordedStep } from "./record-step.ts";
import { isLoopbackAlias } from "./redirect-uri.ts";
import type { SignInProblem } from "./sign-in-step.schema.ts";

/** Of access tokens, which clients renew. */
export const accessSeconds = 600;
/** Of access tokens of clients that don't renew them. Gateways check the grant at each call, so it still ends at once. */
const lastingAccessSeconds = 30 * 86_400;

/** What the access token must say, and the refresh token; null for a client that doesn't use one. */
export type IssuedTokens = {
  readonly userId: string;
  readonly clientId: string;
  readonly grantId: string;
  /** The audience. */
  readonly resource: string;
  readonly scopes: readonly string[];
  /** The sign-in with which these tokens end. */
  readonly familyId: string;
  readonly refreshToken: string | null;
  /** The authorization whose code was exchanged; null for renewed tokens. */
  readonly authorizationId: string | null;
  /** How long the access token lives. */
  readonly accessSeconds: number;
};

type CodeInput = ClientCredentials & {
  readonly code: string | null;
  readonly redirectUri: string | null;
  readonly codeVerifier: string | null;
  readonly resource: string | null;
};

const invalidGrant = (problem: SignInProblem, description: string, cause?: unknown) =>
  new OAuthError("invalid_grant", description, { problem, cause });
/** Clients don't learn which of these it is: a thief of the code could ask. */
const unusableCode = (problem: SignInProblem) =>
  invalidGrant(problem, "The code is unknown, expired or already used. Start the sign-in again.");
export const unusableToken = (problem: SignInProblem): OAuthError =>
  invalidGrant(problem, "The refresh token is unknown, expired, revoked or already used. Start the sign-in again.");

/**
 * Exchanges a code for tokens, once (RFC 6749, section 4.1.3; RFC 7636). A code that is sent again ends the tokens that
 * it gave (section 4.1.2).
 *
 * @throws OAuthError `invalid_client`, `invalid_request`, `invalid_grant`, `invalid_target`
 */
export function exchangeCode(call: Call<CodeInput, "recordSignInStep">): Promise<IssuedTokens> {
  return recordedStep(call.ctx, { kind: "token", resource: call.input.resource }, (known) => exchange(call, known));
}

async function exchange({ ctx, input }: { ctx: Context; input: CodeInput }, known: KnownOfStep): Promise<IssuedTokens> {
  if (input.codeVerifier) known.flow = flowOf({ challenge: sha256(input.codeVerifier) });
  const client = await authenticate(ctx, input, known);
  if (!input.code) throw new OAuthError("invalid_request", "code is missing.");
  const [found] = await ctx.db
    .select({ authorization: oauthAuthorization, grant: oauthGrant })
    .from(oauthAuthorization)
    .innerJoin(oauthGrant, eq(oauthGrant.id, oauthAuthorization.grantId))
    .where(and(eq(oauthAuthorization.codeHash, sha256(input.code)), eq(oauthAuthorization.clientId, client.id)));
  if (!found) throw unusableCode("code_unknown");
  const { authorization, grant } = found;
  Object.assign(known, {
    projectId: grant.projectId,
    isProven: true,
    userId: grant.userId,
    authorizationId: authorization.id,
  });
  requireSameRequest(authorization, input, known);
  await requireCaller(ctx, grant);
  const now = ctx.clock.now();
  const issued = await ctx.db.transaction(async (tx) => {
    const exchanged = await tx
      .update(oauthAuthorization)
      .set({ status: "exchanged" })
      .where(
        and(
          eq(oauthAuthorization.id, authorization.id),
          eq(oauthAuthorization.status, "approved"),
          gt(oauthAuthorization.expiresAt, now),
        ),
      );
    if (exchanged.rowCount !== 1) {
      // Somebody has used it before, maybe whoever stole it.
      await endFamily(tx, now, { grantId: grant.id, familyId: authorization.id });
      return null;
    }
    const { resource, scopes } = authorization;
    const { userId, projectId } = grant;
    const renews = client.grantTypes.includes("refresh_token");
    const isLasting = !renews || (await neverRenews(tx, now, { userId, projectId, app: appOf(client), accessSeconds }));
    const family = { grantId: grant.id, familyId: authorization.id };
    const refreshToken = renews
      ? await addRefreshToken(tx, now, { ...family, resource, scopes, isRenewed: false })
      : null;
    await markUsed(tx, now, grant.id, client.id);
    if (isLasting) known.fault = "refresh_unused";
    const of = { ...family, userId, clientId: client.id, authorizationId: authorization.id };
    return { ...of, resource, scopes, refreshToken, accessSeconds: isLasting ? lastingAccessSeconds : accessSeconds };
  });
  if (!issued) {
    const isLate = authorization.status === "approved" && authorization.expiresAt <= now;
    throw unusableCode(isLate ? "code_expired" : "code_used");
  }
  return issued;
}

function requireSameRequest(
  authorization: typeof oauthAuthorization.$inferSelect,
  input: CodeInput,
  known: KnownOfStep,
): void {
  const { redirectUri } = authorization;
  if (input.redirectUri !== null && input.redirectUri !== redirectUri) {
    if (!isLoopbackAlias([redirectUri], input.redirectUri)) {
      throw invalidGrant("redirect_differs", "redirect_uri differs from that of the authorization request.");
    }
    known.fault = "redirect_alias";
  }
  if (!equalInConstantTime(sha256(input.codeVerifier ?? ""), authorization.codeChallenge)) {
    const description = "code_verifier does not match the code_challenge of the authorization request.";
    throw invalidGrant("pkce_mismatch", description);
  }
  requireSameResource(authorization.resource, input.resource, known);
}

/**
 * The tokens are for `bound` only, so a client may also name an address above it, such as its origin.
 *
 * @throws OAuthError `invalid_target`
 */
export function requireSameResource(bound: string, given: string | null, known: KnownOfStep): void {
  const named = given?.replace(/\/$/, "") ?? bound;
  if (named === bound) return;
  if (bound.startsWith(`${named}/`) && URL.canParse(named)) {
    known.fault = "resource_inexact";
    return;
  }
  const problem = "resource_differs";
  const description = `The token is for another server: ${bound}. Start the sign-in again for this one.`;
  throw new OAuthError("invalid_target", description, { problem });
}

/** `authenticateClient`, which adds to what is known of the step. */
export async function authenticate(ctx: Context, input: ClientCredentials, known: KnownOfStep): Promise<ClientRow> {
  known.clientId = input.clientId;
  const client = await authenticateClient(ctx, input);
  known.clientName = client.name;
  return client;
}

/**
 * The grant holds, and its user may still call the server.
 *
 * @throws OAuthError `invalid_grant`
 */
export async function requireCaller(ctx: Context, grant: typeof oauthGrant.$inferSelect): Promise<void> {
  if (grant.revokedAt !== null) throw unusableToken("access_ended");
  const asUser: Context = { ...ctx, actor: { kind: "user", userId: grant.userId, ipAddress: null } };
  try {
    const access = await authorizeCaller(asUser, { projectId: grant.projectId });
    if (access.project.authMode === "towpath-cloud") return;
  } catch (error) {
    if (!(error instanceof TowpathError)) throw error;
    throw invalidGrant("access_ended", "The user may no longer call this server.", error);
  }
  throw invalidGrant("access_ended", "The server no longer uses sign-in by Towpath.");
}
