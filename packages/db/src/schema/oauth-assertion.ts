import { index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { oauthGrant } from "./oauth-grant.ts";
import { daysAfter } from "./retention-rule.ts";
import { signInIssuer } from "./sign-in-issuer.ts";

/** Identity assertions that were exchanged for an access token, so that each is used once, at any of several processes. */
export const oauthAssertion = pgTable(
  "oauth_assertion",
  {
    /** SHA-256 of its issuer and `jti`: a removed issuer that is added again finds it. */
    hash: text().primaryKey(),
    issuerId: uuid().references(() => signInIssuer.id, { onDelete: "set null" }),
    grantId: ownedBy(() => oauthGrant.id),
    /** The sign-in that it began, with which its access token ends. */
    familyId: uuid().notNull(),
    createdAt: instant().notNull().defaultNow(),
    /** When neither the assertion nor its access token is valid anymore. */
    expiresAt: instant().notNull(),
  },
  (table) => [index().on(table.issuerId), index().on(table.grantId), index().on(table.expiresAt)],
);

export const oauthAssertionRetention = daysAfter(1, oauthAssertion.expiresAt);
