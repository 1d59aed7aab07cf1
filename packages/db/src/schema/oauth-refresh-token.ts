import { boolean, index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { oauthGrant } from "./oauth-grant.ts";
import { daysAfter } from "./retention-rule.ts";

/** Refresh tokens, used once each. Used ones are kept until they expire, so that a replay is recognized. */
export const oauthRefreshToken = pgTable(
  "oauth_refresh_token",
  {
    /** SHA-256 of the token. */
    hash: text().primaryKey(),
    grantId: ownedBy(() => oauthGrant.id),
    /** The authorization whose code began the family; without a foreign key, because it is removed earlier. */
    familyId: uuid().notNull(),
    /** The audience of access tokens. */
    resource: text().notNull(),
    scopes: text().array().notNull(),
    createdAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
    /** When it was exchanged for its successor. */
    rotatedAt: instant(),
    /** The successor, sealed with a key that is derived from this token; null once the successor was used. */
    successor: text(),
    /** Whether it came from another one, not from a code. */
    isRenewed: boolean().notNull().default(false),
    /** A digest of the program and network that got the successor. */
    renewedBy: text(),
    /** When a client sent it too early and got it back. */
    returnedAt: instant(),
    /** When another one took its place, because its predecessor came again from elsewhere. */
    replacedAt: instant(),
  },
  (table) => [index().on(table.grantId), index().on(table.familyId), index().on(table.expiresAt)],
);

export const oauthRefreshTokenRetention = daysAfter(1, oauthRefreshToken.expiresAt);
