import type { Transaction } from "@towpath/db";
import { oauthAssertion, oauthGrant } from "@towpath/db/schema";
import { and, eq, exists, inArray, isNull, sql } from "drizzle-orm";
import { maxEnded } from "./families.ts";
import { revokeGrants } from "./oauth.store.ts";

/**
 * Ends what assertions of an issuer began: the grants that it made, and its sign-ins under those to which the person has
 * consented. Gateways refuse their access tokens. The caller holds the issuer's row. Returns how many connections ended.
 */
export async function endIssuer(tx: Transaction, now: Date, issuerId: string): Promise<number> {
  const revoked = await revokeGrants(tx, now, eq(oauthGrant.issuerId, issuerId));
  const begun = tx
    .select({ familyId: oauthAssertion.familyId })
    .from(oauthAssertion)
    .where(
      and(
        eq(oauthAssertion.grantId, oauthGrant.id),
        eq(oauthAssertion.issuerId, issuerId),
        sql`${oauthAssertion.familyId} <> ALL (${oauthGrant.endedFamilies})`,
      ),
    );
  const { endedFamilies } = oauthGrant;
  const left = await tx
    .update(oauthGrant)
    .set({ endedFamilies: sql`${endedFamilies} || ARRAY(${begun})` })
    .where(and(isNull(oauthGrant.revokedAt), exists(begun)))
    .returning({ id: oauthGrant.id, ended: sql<number>`cardinality(${endedFamilies})` });
  const full = left.filter(({ ended }) => ended > maxEnded).map(({ id }) => id);
  if (full.length > 0) await revokeGrants(tx, now, inArray(oauthGrant.id, full));
  return revoked.length + left.length;
}
