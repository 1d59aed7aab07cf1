import type { Database, Transaction } from "@towpath/db";
import { signInIssuer, user } from "@towpath/db/schema";
import { and, desc, eq, type SQL } from "drizzle-orm";
import { z } from "zod";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";

/** Whose identity assertions let an organization's members in (CAP-3). None of it is secret. */
export const signInIssuerViewSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  issuer: z.string().describe("`iss` of its assertions"),
  matchesEmail: z
    .boolean()
    .describe("members who have never signed in here by it are found by their verified email address"),
  problem: z.string().nullable().describe("why the issuer's keys could not be read at the last attempt"),
  /** Null when the account was deleted, and for what the operator created. */
  createdBy: z.string().nullable(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
});
export type SignInIssuerView = z.infer<typeof signInIssuerViewSchema>;

type Queryable = Database | Transaction;

/** The issuers of an organization, newest first. */
export async function signInIssuerViews(
  db: Queryable,
  organizationId: string,
  condition?: SQL,
): Promise<SignInIssuerView[]> {
  const rows = await db
    .select({ issuer: signInIssuer, createdBy: user.name })
    .from(signInIssuer)
    .leftJoin(user, eq(user.id, signInIssuer.createdByUserId))
    .where(and(eq(signInIssuer.organizationId, organizationId), condition))
    .orderBy(desc(signInIssuer.createdAt), desc(signInIssuer.id));
  return rows.map(({ issuer: { id, name, issuer, matchesEmail, problem, createdAt, lastUsedAt }, createdBy }) => ({
    id,
    name,
    issuer,
    matchesEmail,
    problem,
    createdBy,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  }));
}

/** @throws TowpathError `not_found`, also for one of another organization */
export async function requireSignInIssuer(
  db: Queryable,
  { organizationId, id }: { readonly organizationId: string; readonly id: string },
): Promise<SignInIssuerView> {
  const [view] = isId(id) ? await signInIssuerViews(db, organizationId, eq(signInIssuer.id, id)) : [];
  if (!view) throw notFound("Company sign-in");
  return view;
}
