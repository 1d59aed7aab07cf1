import type { Database } from "@towpath/db";
import { account, user } from "@towpath/db/schema";
import { and, eq, ne } from "drizzle-orm";
import { z } from "zod";

/** Claims of a person (OpenID Connect Core 1.0, section 5.1). */
const claimsSchema = z.object({ sub: z.string().min(1), email: z.email(), email_verified: z.unknown().optional() });

export type IssuerEmailChange = { readonly userId: string; readonly from: string; readonly to: string };

/**
 * Takes over the issuer's current address of a person who signs in, whose account is identified by the subject
 * (AUTH-11). Nothing changes for a new person, for the same address, or if another account has it.
 *
 * @returns the change, or null
 */
export async function followIssuerEmail(
  db: Database,
  providerId: string,
  profile: unknown,
): Promise<IssuerEmailChange | null> {
  const claims = claimsSchema.safeParse(profile).data;
  if (!claims) return null;
  const email = claims.email.toLowerCase();
  return db.transaction(async (tx) => {
    const [found] = await tx
      .select({ userId: user.id, from: user.email })
      .from(account)
      .innerJoin(user, eq(user.id, account.userId))
      .where(and(eq(account.providerId, providerId), eq(account.accountId, claims.sub)))
      .for("update");
    if (!found || found.from === email) return null;
    if ((await tx.$count(user, and(eq(user.email, email), ne(user.id, found.userId)))) > 0) return null;
    const changed = { email, emailVerified: claims.email_verified === true, updatedAt: new Date() };
    await tx.update(user).set(changed).where(eq(user.id, found.userId));
    return { ...found, to: email };
  });
}
