import { deriveKey, equalInConstantTime, open, randomToken, seal, sha256 } from "@towpath/crypto";
import type { Transaction } from "@towpath/db";
import { oauthAuthorization, oauthClient, oauthGrant, oauthRefreshToken } from "@towpath/db/schema";
import { and, eq, gt, isNull, ne, sql } from "drizzle-orm";
import type { Call, Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { authorizeCaller } from "../access/internal.ts";
import { authenticateClient, type ClientCredentials } from "./authenticate-client.ts";
import type { ClientRow } from "./clients.ts";
import { OAuthError } from "./oauth-error.ts";
import { flowOf, type KnownOfStep, recordedStep } from "./record-step.ts";
import type { SignInProblem } from "./sign-in-step.schema.ts";

const refreshMs = 30 * 86_400_000;
/** A client whose connection broke may send the same refresh token again for this long, and gets the same successor. */
const graceMs = 30_000;

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
};

type CodeInput = ClientCredentials & {
  readonly code: string | null;
  readonly redirectUri: string | null;
  readonly codeVerifier: string | null;
  readonly resource: string | null;
};
type RefreshInput = ClientCredentials & { readonly refreshToken: string | null; readonly resource: string | null };

const invalidGrant = (problem: SignInProblem, description: string, cause?: unknown) =>
  new OAuthError("invalid_grant", description, { problem, cause });
/** Clients don't learn which of these it is: a thief of the code could ask. */
const unusableCode = (problem: SignInProblem) =>
  invalidGrant(problem, "The code is unknown, expired or already used. Start the sign-in again.");
const unusableToken = (problem: SignInProblem) =>
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
  requireSameRequest(authorization, input);
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
      await endFamily(tx, { grantId: grant.id, familyId: authorization.id });
      return null;
    }
    const { resource, scopes } = authorization;
    const refreshToken = client.grantTypes.includes("refresh_token")
      ? await addRefreshToken(tx, now, { grantId: grant.id, familyId: authorization.id, resource, scopes })
      : null;
    await markUsed(tx, now, grant.id, client.id);
    const of = { userId: grant.userId, clientId: client.id, grantId: grant.id, authorizationId: authorization.id };
    return { ...of, familyId: authorization.id, resource, scopes, refreshToken };
  });
  if (!issued) {
    const isLate = authorization.status === "approved" && authorization.expiresAt <= now;
    throw unusableCode(isLate ? "code_expired" : "code_used");
  }
  return issued;
}

function requireSameRequest(authorization: typeof oauthAuthorization.$inferSelect, input: CodeInput): void {
  if (input.redirectUri !== null && input.redirectUri !== authorization.redirectUri) {
    throw invalidGrant("redirect_differs", "redirect_uri differs from that of the authorization request.");
  }
  if (!equalInConstantTime(sha256(input.codeVerifier ?? ""), authorization.codeChallenge)) {
    const description = "code_verifier does not match the code_challenge of the authorization request.";
    throw invalidGrant("pkce_mismatch", description);
  }
  requireSameResource(authorization.resource, input.resource);
}

function requireSameResource(bound: string, given: string | null): void {
  if (given !== null && given.replace(/\/$/, "") !== bound) {
    const problem = "resource_differs";
    const description = "The token is for another server. Start the sign-in again for this one.";
    throw new OAuthError("invalid_target", description, { problem });
  }
}

/**
 * Exchanges a refresh token for the next one (OAuth 2.1, section 4.3.1). One that was used longer than 30 s ago, or
 * whose successor was used too, has been stolen from somebody: its whole family ends.
 *
 * @throws OAuthError `invalid_client`, `invalid_request`, `invalid_grant`, `invalid_target`
 */
export function refreshTokens(call: Call<RefreshInput, "recordSignInStep">): Promise<IssuedTokens> {
  return recordedStep(call.ctx, { kind: "refresh", resource: call.input.resource }, (known) => refresh(call, known));
}

async function refresh({ ctx, input }: { ctx: Context; input: RefreshInput }, known: KnownOfStep) {
  const client = await authenticate(ctx, input, known);
  const given = input.refreshToken;
  if (!given) throw new OAuthError("invalid_request", "refresh_token is missing.");
  const found = await findRefreshToken(ctx, given, client);
  if (!found) throw unusableToken("refresh_unknown");
  Object.assign(known, {
    projectId: found.grant.projectId,
    isProven: true,
    userId: found.grant.userId,
    authorizationId: found.token.familyId,
  });
  requireSameResource(found.token.resource, input.resource);
  await requireCaller(ctx, found.grant);
  const now = ctx.clock.now();
  const refreshToken = await ctx.db.transaction(async (tx) => {
    const next = await successorOf(tx, now, given);
    if (next === null) await endFamily(tx, found.token);
    else await markUsed(tx, now, found.grant.id, client.id);
    return next;
  });
  if (refreshToken === null) throw unusableToken("refresh_reused");
  const { userId, id: grantId } = found.grant;
  const { resource, scopes, familyId } = found.token;
  return { userId, clientId: client.id, grantId, familyId, resource, scopes, refreshToken, authorizationId: null };
}

/** `authenticateClient`, which adds to what is known of the step. */
async function authenticate(ctx: Context, input: CodeInput | RefreshInput, known: KnownOfStep): Promise<ClientRow> {
  known.clientId = input.clientId;
  const client = await authenticateClient(ctx, input);
  known.clientName = client.name;
  return client;
}

/** A refresh token of this client whose sign-in has not ended, with its grant that is not revoked. */
export async function findRefreshToken(ctx: Context, token: string, client: ClientRow) {
  const [found] = await ctx.db
    .select({ token: oauthRefreshToken, grant: oauthGrant })
    .from(oauthRefreshToken)
    .innerJoin(oauthGrant, eq(oauthGrant.id, oauthRefreshToken.grantId))
    .where(
      and(
        eq(oauthRefreshToken.hash, sha256(token)),
        eq(oauthGrant.clientId, client.id),
        isNull(oauthGrant.revokedAt),
        // One that was issued while its sign-in ended is still there.
        sql`${oauthRefreshToken.familyId} <> ALL (${oauthGrant.endedFamilies})`,
        gt(oauthRefreshToken.expiresAt, ctx.clock.now()),
      ),
    );
  return found;
}

/** The token that replaces `given`; null when `given` was replayed. Requests that arrive together get the same one. */
async function successorOf(tx: Transaction, now: Date, given: string): Promise<string | null> {
  const hash = sha256(given);
  const [row] = await tx.select().from(oauthRefreshToken).where(eq(oauthRefreshToken.hash, hash)).for("update");
  if (!row) return null;
  // Only who holds the token itself can open it: the database has its hash.
  const key = deriveKey(given, "refresh-token");
  if (row.rotatedAt !== null) {
    const isRecent = now.getTime() - row.rotatedAt.getTime() <= graceMs;
    return isRecent && row.successor !== null ? open(key, row.successor, hash) : null;
  }
  const successor = await addRefreshToken(tx, now, row);
  await tx
    .update(oauthRefreshToken)
    .set({ rotatedAt: now, successor: seal(key, successor, hash) })
    .where(eq(oauthRefreshToken.hash, hash));
  await tx
    .update(oauthRefreshToken)
    .set({ successor: null })
    .where(and(eq(oauthRefreshToken.familyId, row.familyId), ne(oauthRefreshToken.hash, hash)));
  return successor;
}

async function addRefreshToken(
  tx: Transaction,
  now: Date,
  bound: { grantId: string; familyId: string; resource: string; scopes: string[] },
): Promise<string> {
  const { grantId, familyId, resource, scopes } = bound;
  const token = randomToken();
  await tx.insert(oauthRefreshToken).values({
    hash: sha256(token),
    grantId,
    familyId,
    resource,
    scopes,
    createdAt: now,
    expiresAt: new Date(now.getTime() + refreshMs),
  });
  return token;
}

/** Sign-ins of a grant that are known to have ended. Their access tokens live ten minutes: nobody ends so many in that. */
const maxEnded = 200;

/**
 * Ends a sign-in: its refresh tokens, and its access tokens, by a trigger that notifies gateways. Refresh tokens first, as
 * a refresh takes these locks in the same order.
 */
export async function endFamily(tx: Transaction, family: { grantId: string; familyId: string }): Promise<void> {
  const { grantId, familyId } = family;
  await tx.delete(oauthRefreshToken).where(eq(oauthRefreshToken.familyId, familyId));
  const { endedFamilies } = oauthGrant;
  await tx
    .update(oauthGrant)
    .set({
      endedFamilies: sql`(array_append(${endedFamilies}, ${familyId}::uuid))[greatest(1, cardinality(${endedFamilies}) + 2 - ${maxEnded}):]`,
    })
    .where(and(eq(oauthGrant.id, grantId), sql`${familyId}::uuid <> ALL (${endedFamilies})`));
}

async function markUsed(tx: Transaction, now: Date, grantId: string, clientId: string): Promise<void> {
  await tx.update(oauthGrant).set({ lastUsedAt: now }).where(eq(oauthGrant.id, grantId));
  await tx.update(oauthClient).set({ lastUsedAt: now }).where(eq(oauthClient.id, clientId));
}

/**
 * The grant holds, and its user may still call the server.
 *
 * @throws OAuthError `invalid_grant`
 */
async function requireCaller(ctx: Context, grant: typeof oauthGrant.$inferSelect): Promise<void> {
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
