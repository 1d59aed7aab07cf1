import { sql } from "drizzle-orm";
import { index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { oauthClient } from "./oauth-client.ts";
import { project } from "./project.ts";
import { daysAfter } from "./retention-rule.ts";
import { signInIssuer } from "./sign-in-issuer.ts";
import { user } from "./user.ts";

/**
 * A person's permission for a client to call one server in their name (GW-5). Access tokens name their grant
 * (`towpath_grant`) and their sign-in (`towpath_family`), and end with either. A trigger notifies `towpath_oauth_grant`
 * when a grant is revoked or deleted, or a sign-in ended.
 */
export const oauthGrant = pgTable(
  "oauth_grant",
  {
    id: uuid().primaryKey(),
    userId: ownedBy(() => user.id),
    clientId: text()
      .notNull()
      .references(() => oauthClient.id, { onDelete: "cascade" }),
    projectId: ownedBy(() => project.id),
    scopes: text().array().notNull(),
    createdAt: instant().notNull().defaultNow(),
    /** When tokens were last issued under it. */
    lastUsedAt: instant(),
    revokedAt: instant(),
    /** Sign-ins under it (`oauth_refresh_token.family_id`) whose tokens were revoked or replayed, the latest last. */
    endedFamilies: uuid().array().notNull().default(sql`'{}'`),
    /** Whose assertion began it, with which it ends; null: the person's consent. */
    issuerId: uuid().references(() => signInIssuer.id, { onDelete: "set null" }),
  },
  (table) => [
    uniqueIndex("oauth_grant_current").on(table.userId, table.clientId, table.projectId).where(sql`revoked_at IS NULL`),
    index().on(table.userId),
    index().on(table.clientId),
    index().on(table.projectId),
    index().on(table.revokedAt),
    index().on(table.issuerId),
  ],
);

/** Until somebody revokes it, and 30 days longer. */
export const oauthGrantRetention = daysAfter(30, oauthGrant.revokedAt);
