import { randomToken, sha256 } from "@towpath/crypto";
import type { Transaction } from "@towpath/db";
import { oauthClient, oauthGrant, oauthRefreshToken } from "@towpath/db/schema";
import { and, eq, isNull, sql } from "drizzle-orm";
import { revokeGrants } from "./oauth.store.ts";

/** All tokens of one sign-in, from its code on. `familyId`: the authorization whose code began it. */
type Family = { readonly grantId: string; readonly familyId: string };

const refreshMs = 30 * 86_400_000;

/** Stores a new refresh token of a family. */
export async function addRefreshToken(
  tx: Transaction,
  now: Date,
  bound: Family & { readonly resource: string; readonly scopes: string[]; readonly isRenewed: boolean },
): Promise<string> {
  const { grantId, familyId, resource, scopes, isRenewed } = bound;
  const token = randomToken();
  await tx.insert(oauthRefreshToken).values({
    hash: sha256(token),
    grantId,
    familyId,
    resource,
    scopes,
    isRenewed,
    createdAt: now,
    expiresAt: new Date(now.getTime() + refreshMs),
  });
  return token;
}

/** What changes the tokens of a sign-in does so one at a time, as each change concerns several of its rows. */
export const lockFamily = (tx: Transaction, familyId: string): Promise<unknown> =>
  tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${familyId}, 0))`);

/**
 * Sign-ins of a grant that are known to have ended. Access tokens may live 30 days, so none of them is forgotten: a grant
 * with more ends as a whole.
 */
export const maxEnded = 1000;

/**
 * Ends a sign-in: its refresh tokens, and its access tokens, by a trigger that notifies gateways. Refresh tokens first, as
 * a refresh takes these locks in the same order.
 */
export async function endFamily(tx: Transaction, now: Date, { grantId, familyId }: Family): Promise<void> {
  await lockFamily(tx, familyId);
  await tx.delete(oauthRefreshToken).where(eq(oauthRefreshToken.familyId, familyId));
  const { endedFamilies } = oauthGrant;
  const [grant] = await tx
    .update(oauthGrant)
    .set({ endedFamilies: sql`array_append(${endedFamilies}, ${familyId}::uuid)` })
    .where(and(eq(oauthGrant.id, grantId), sql`${familyId}::uuid <> ALL (${endedFamilies})`))
    .returning({ ended: sql<number>`cardinality(${endedFamilies})` });
  if (grant && grant.ended > maxEnded) await revokeGrants(tx, now, eq(oauthGrant.id, grantId));
}

export async function markUsed(tx: Transaction, now: Date, grantId: string, clientId: string): Promise<void> {
  await tx.update(oauthGrant).set({ lastUsedAt: now }).where(eq(oauthGrant.id, grantId));
  await tx.update(oauthClient).set({ lastUsedAt: now }).where(eq(oauthClient.id, clientId));
}

/** A client that does not renew has signed in so often without a renewal. */
const minUnrenewed = 2;

/**
 * Whether an app has had its person sign in to a server again and again, and never renewed its tokens: only sign-ins
 * whose first access token has expired count.
 */
export async function neverRenews(
  tx: Transaction,
  now: Date,
  of: { readonly userId: string; readonly projectId: string; readonly app: string; readonly accessSeconds: number },
): Promise<boolean> {
  const hasRenewed = sql`(${oauthRefreshToken.isRenewed} OR ${oauthRefreshToken.rotatedAt} IS NOT NULL)`;
  const expired = new Date(now.getTime() - of.accessSeconds * 1000).toISOString();
  const [seen] = await tx
    .select({
      renewed: sql<number>`(count(*) FILTER (WHERE ${hasRenewed}))::int`,
      unrenewed: sql<number>`(count(*) FILTER (WHERE NOT ${hasRenewed} AND ${oauthRefreshToken.createdAt} < ${expired}::timestamptz))::int`,
    })
    .from(oauthRefreshToken)
    .innerJoin(oauthGrant, eq(oauthGrant.id, oauthRefreshToken.grantId))
    .innerJoin(oauthClient, eq(oauthClient.id, oauthGrant.clientId))
    .where(
      and(
        eq(oauthGrant.userId, of.userId),
        eq(oauthGrant.projectId, of.projectId),
        eq(oauthClient.app, of.app),
        isNull(oauthGrant.revokedAt),
      ),
    );
  return seen !== undefined && seen.renewed === 0 && seen.unrenewed >= minUnrenewed;
}
