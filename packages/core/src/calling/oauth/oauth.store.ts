import type { Database, Transaction } from "@towpath/db";
import { oauthAuthorization, oauthClient, oauthConsent, oauthGrant, oauthRefreshToken } from "@towpath/db/schema";
import { and, eq, exists, inArray, isNull, type SQL } from "drizzle-orm";
import type { ClientRow } from "./clients.ts";
import type { OAuthClientView } from "./oauth.schema.ts";

export function clientView(row: ClientRow): OAuthClientView {
  return {
    id: row.id,
    name: row.name,
    uri: row.uri,
    version: row.softwareVersion,
    verifiedHost: row.kind === "document" ? new URL(row.id).host : null,
  };
}

/** An authorization request by the token in its consent page's URL, with its client. */
export async function findRequest(db: Database, requestHash: string) {
  const [found] = await db
    .select({ authorization: oauthAuthorization, client: oauthClient })
    .from(oauthAuthorization)
    .innerJoin(oauthClient, eq(oauthClient.id, oauthAuthorization.clientId))
    .where(eq(oauthAuthorization.requestHash, requestHash));
  return found;
}

/** Whether anybody has connected a client, and has not disconnected it. */
export async function isConnected(db: Database, clientId: string): Promise<boolean> {
  const connected = and(eq(oauthGrant.clientId, clientId), isNull(oauthGrant.revokedAt));
  const [found] = await db.select({ id: oauthGrant.id }).from(oauthGrant).where(connected).limit(1);
  return found !== undefined;
}

/** Asks the people of these grants again when their apps want to call these servers. */
export async function forgetConsents(tx: Transaction, grants: readonly { readonly id: string }[]): Promise<void> {
  const ids = grants.map(({ id }) => id);
  if (ids.length === 0) return;
  const ofGrant = tx
    .select({ id: oauthGrant.id })
    .from(oauthGrant)
    .innerJoin(oauthClient, eq(oauthClient.id, oauthGrant.clientId))
    .where(
      and(
        inArray(oauthGrant.id, ids),
        eq(oauthGrant.userId, oauthConsent.userId),
        eq(oauthGrant.projectId, oauthConsent.projectId),
        eq(oauthClient.app, oauthConsent.app),
      ),
    );
  await tx.delete(oauthConsent).where(exists(ofGrant));
}

/**
 * Revokes the current grants that match, with their refresh tokens and unused codes. Returns them. Gateways hear of it
 * by a trigger and refuse their access tokens.
 */
export async function revokeGrants(tx: Transaction, now: Date, condition: SQL | undefined) {
  const revoked = await tx
    .update(oauthGrant)
    .set({ revokedAt: now })
    .where(and(isNull(oauthGrant.revokedAt), condition))
    .returning();
  const ids = revoked.map(({ id }) => id);
  if (ids.length > 0) {
    await tx.delete(oauthRefreshToken).where(inArray(oauthRefreshToken.grantId, ids));
    await tx.delete(oauthAuthorization).where(inArray(oauthAuthorization.grantId, ids));
  }
  return revoked;
}
