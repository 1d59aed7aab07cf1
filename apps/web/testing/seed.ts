import { newId } from "@towpath/core/ids";
import { type SeededOrganization, seedOrganization } from "@towpath/core/testing";
import type { Database } from "@towpath/db";
import { member, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { signedUpVisitor, type Visitor } from "./visitor.ts";

export type Member = { readonly visitor: Visitor; readonly userId: string; readonly organization: SeededOrganization };

/** Somebody with an account who owns an organization of their own, with a GitHub installation. */
export async function seededMember(url: string, db: Database): Promise<Member> {
  const email = `${crypto.randomUUID()}@example.com`;
  const visitor = await signedUpVisitor(url, email);
  const [account] = await db.select({ id: user.id }).from(user).where(eq(user.email, email));
  if (!account) throw new Error("the account is not there");
  const organization = await seedOrganization(db);
  await db.insert(member).values({ id: newId(), organizationId: organization.id, userId: account.id, role: "owner" });
  return { visitor, userId: account.id, organization };
}
