import { deriveKey, open, seal, sha256 } from "@towpath/crypto";
import type { Transaction } from "@towpath/db";
import { oauthGrant, oauthRefreshToken } from "@towpath/db/schema";
import { and, eq, gt, isNull, ne, sql } from "drizzle-orm";
import type { Call, Context } from "../../context/index.ts";
import type { ClientCredentials } from "./authenticate-client.ts";
import type { ClientRow } from "./clients.ts";
import { addRefreshToken, endFamily, lockFamily, markUsed } from "./families.ts";
import {
  accessSeconds,
  authenticate,
  type IssuedTokens,
  requireCaller,
  requireSameResource,
  unusableToken,
} from "./issue-tokens.ts";
import { OAuthError } from "./oauth-error.ts";
import { type KnownOfStep, recordedStep } from "./record-step.ts";
import type { SignInFault } from "./sign-in-step.schema.ts";

/**
 * Windows of a client that share their tokens renew them at the same time, and those whose clock is wrong renew them
 * again and again: within a minute all of these get the same token.
 */
const sameMs = 60_000;
/** How long a client that has lost the answer may send its token again, while nobody has used the answer. */
const lostMs = 24 * 3_600_000;

/** `program`: a digest of the program and network that the request comes from; null if unknown. */
type RefreshInput = ClientCredentials & {
  readonly refreshToken: string | null;
  readonly resource: string | null;
  readonly program?: string | null;
};

/**
 * Exchanges a refresh token for the next one (OAuth 2.1, section 4.3.1). One whose successor was used has been stolen from
 * somebody, and its whole family ends (RFC 9700, section 4.14). What clients do wrong gets an answer where that is safe:
 * requests within a minute get the same token, and one whose answer was lost may be sent again for a day.
 *
 * @throws OAuthError `invalid_client`, `invalid_request`, `invalid_grant`, `invalid_target`
 */
export function refreshTokens(call: Call<RefreshInput, "recordSignInStep">): Promise<IssuedTokens> {
  return recordedStep(call.ctx, { kind: "refresh", resource: call.input.resource }, (known) => refresh(call, known));
}

async function refresh(
  { ctx, input }: { ctx: Context; input: RefreshInput },
  known: KnownOfStep,
): Promise<IssuedTokens> {
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
  requireSameResource(found.token.resource, input.resource, known);
  await requireCaller(ctx, found.grant);
  const now = ctx.clock.now();
  const renewal = await ctx.db.transaction(async (tx) => {
    await lockFamily(tx, found.token.familyId);
    const next = await renew(tx, now, { given, program: input.program ?? null });
    if (next === null) await endFamily(tx, now, found.token);
    else await markUsed(tx, now, found.grant.id, client.id);
    return next;
  });
  if (renewal === null) throw unusableToken("refresh_reused");
  if (renewal.fault !== null) known.fault = renewal.fault;
  const { userId, id: grantId } = found.grant;
  const { resource, scopes, familyId } = found.token;
  const of = { userId, clientId: client.id, grantId, familyId, resource, scopes };
  return { ...of, refreshToken: renewal.token, authorizationId: null, accessSeconds };
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

type Sent = { readonly given: string; readonly program: string | null };
type Renewal = { readonly token: string; readonly fault: SignInFault | null };
type Row = typeof oauthRefreshToken.$inferSelect;

/** The token that the client uses from now on; null when `given` was replayed. */
async function renew(tx: Transaction, now: Date, sent: Sent): Promise<Renewal | null> {
  const row = await findRow(tx, sent.given);
  if (!row || row.replacedAt !== null) return null;
  if (row.rotatedAt !== null) return renewAgain(tx, now, { ...sent, row, rotatedAt: row.rotatedAt });
  if (row.isRenewed && now.getTime() - row.createdAt.getTime() < sameMs) {
    await tx.update(oauthRefreshToken).set({ returnedAt: now }).where(eq(oauthRefreshToken.hash, row.hash));
    return { token: sent.given, fault: "refresh_early" };
  }
  const token = await succeed(tx, now, { ...sent, row });
  await tx
    .update(oauthRefreshToken)
    .set({ successor: null })
    .where(and(eq(oauthRefreshToken.familyId, row.familyId), ne(oauthRefreshToken.hash, row.hash)));
  return { token, fault: null };
}

async function findRow(tx: Transaction, token: string): Promise<Row | undefined> {
  const [row] = await tx
    .select()
    .from(oauthRefreshToken)
    .where(eq(oauthRefreshToken.hash, sha256(token)));
  return row;
}

/** Only who holds the token itself can open its successor: the database has its hash. */
const keyOf = (token: string) => deriveKey(token, "refresh-token");

async function succeed(tx: Transaction, now: Date, { given, program, row }: Sent & { row: Row }): Promise<string> {
  const token = await addRefreshToken(tx, now, { ...row, isRenewed: true });
  await tx
    .update(oauthRefreshToken)
    .set({
      rotatedAt: row.rotatedAt ?? now,
      successor: seal(keyOf(given), token, row.hash),
      renewedBy: program,
    })
    .where(eq(oauthRefreshToken.hash, row.hash));
  return token;
}

/** Answers a token that has a successor. */
async function renewAgain(
  tx: Transaction,
  now: Date,
  sent: Sent & { readonly row: Row; readonly rotatedAt: Date },
): Promise<Renewal | null> {
  const { row, given, program, rotatedAt } = sent;
  const agoMs = now.getTime() - rotatedAt.getTime();
  if (row.successor === null || agoMs > lostMs) return null;
  const token = open(keyOf(given), row.successor, row.hash);
  if (agoMs <= sameMs) return { token, fault: "refresh_raced" };
  const next = await findRow(tx, token);
  if (!next || next.rotatedAt !== null) return null;
  if (program !== null && program === row.renewedBy) return { token, fault: "refresh_repeated" };
  // Somebody has it already, so this is another who has a copy.
  if (next.returnedAt !== null) return null;
  // From elsewhere it may be a thief: whoever has the other successor ends the family by using it.
  await tx.update(oauthRefreshToken).set({ replacedAt: now }).where(eq(oauthRefreshToken.hash, next.hash));
  return { token: await succeed(tx, now, sent), fault: "refresh_repeated" };
}
