import { account, member, type signInIssuer, user } from "@towpath/db/schema";
import { and, eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import type { AssertionClaims } from "../../ports/index.ts";

/**
 * The member of the issuer's organization whom an assertion names; null if there is none, as nobody becomes a member by
 * one. Who has signed in here by the same issuer is known by the subject, and by nothing else. Others are found by an
 * email address that both the issuer and this instance have verified, if the organization chose that.
 */
export async function findAssertedMember(
  ctx: Context<"assertions">,
  asserted: { readonly claims: AssertionClaims; readonly trusted: typeof signInIssuer.$inferSelect },
): Promise<string | null> {
  const { claims, trusted } = asserted;
  const [linked] = await ctx.db
    .select({ userId: account.userId })
    .from(account)
    .where(
      and(eq(account.providerId, ctx.assertions.providerOf(claims.issuer)), eq(account.accountId, claims.subject)),
    );
  const isPerson = linked
    ? eq(user.id, linked.userId)
    : trusted.matchesEmail && claims.verifiedEmail !== null
      ? and(eq(user.email, claims.verifiedEmail), eq(user.emailVerified, true))
      : null;
  if (isPerson === null) return null;
  const [found] = await ctx.db
    .select({ userId: member.userId })
    .from(member)
    .innerJoin(user, eq(user.id, member.userId))
    .where(and(eq(member.organizationId, trusted.organizationId), isPerson));
  return found?.userId ?? null;
}
