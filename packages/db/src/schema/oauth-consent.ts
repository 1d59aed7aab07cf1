import { index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import { daysAfter } from "./retention-rule.ts";
import { user } from "./user.ts";

/**
 * That a person chose not to be asked again when an app wants to call a server, also when the app registers again under the
 * same name and with the same return address.
 */
export const oauthConsent = pgTable(
  "oauth_consent",
  {
    id: uuid().primaryKey(),
    userId: ownedBy(() => user.id),
    projectId: ownedBy(() => project.id),
    /** `oauth_client.app`. */
    app: text().notNull(),
    /** Where the answer goes, without the port of a program on the person's machine. */
    returnAddress: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
  },
  (table) => [
    uniqueIndex().on(table.userId, table.projectId, table.app, table.returnAddress),
    index().on(table.projectId),
    index().on(table.expiresAt),
  ],
);

export const oauthConsentRetention = daysAfter(1, oauthConsent.expiresAt);
