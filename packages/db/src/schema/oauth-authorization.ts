import { boolean, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { oauthClient } from "./oauth-client.ts";
import { oauthGrant } from "./oauth-grant.ts";
import { project } from "./project.ts";
import { daysAfter } from "./retention-rule.ts";

/** A client's authorization request, from its arrival to the exchange of its code (GW-5). */
export const oauthAuthorization = pgTable(
  "oauth_authorization",
  {
    id: uuid().primaryKey(),
    /** SHA-256 of the token in the consent page's URL. */
    requestHash: text().notNull().unique(),
    /** pending → approved | denied; approved → exchanged. Changed by compare-and-swap only. */
    status: text({ enum: ["pending", "approved", "denied", "exchanged"] }).notNull(),
    clientId: text()
      .notNull()
      .references(() => oauthClient.id, { onDelete: "cascade" }),
    projectId: ownedBy(() => project.id),
    redirectUri: text().notNull(),
    state: text(),
    /** PKCE (RFC 7636), method S256. */
    codeChallenge: text().notNull(),
    /** The server's URL (RFC 8707), the audience of its tokens. */
    resource: text().notNull(),
    scopes: text().array().notNull(),
    /** Set by the consent. */
    grantId: uuid().references(() => oauthGrant.id, { onDelete: "cascade" }),
    /** Whether a remembered consent approved it, without a page. */
    isRemembered: boolean().notNull().default(false),
    /** SHA-256 of the code, set by the consent. */
    codeHash: text(),
    createdAt: instant().notNull().defaultNow(),
    /** Of the request until the consent, then of the code. */
    expiresAt: instant().notNull(),
  },
  (table) => [
    uniqueIndex().on(table.codeHash),
    index().on(table.expiresAt),
    index().on(table.clientId),
    index().on(table.projectId),
    index().on(table.grantId),
  ],
);

/** A day after it expired, so that a replayed code is recognized. */
export const oauthAuthorizationRetention = daysAfter(1, oauthAuthorization.expiresAt);
