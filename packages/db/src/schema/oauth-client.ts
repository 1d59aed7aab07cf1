import { sql } from "drizzle-orm";
import { index, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

/** OAuth clients: applications such as Claude or Cursor that ask people for access to a server (GW-5). */
export const oauthClient = pgTable(
  "oauth_client",
  {
    /** The `client_id`: ours for a registered client, the URL of a metadata document otherwise. */
    id: text().primaryKey(),
    kind: text({ enum: ["registered", "document"] }).notNull(),
    /** The client's own name. Anyone can claim any name. */
    name: text().notNull(),
    uri: text(),
    softwareVersion: text(),
    redirectUris: text().array().notNull(),
    tokenEndpointAuthMethod: text({ enum: ["none", "client_secret_post", "client_secret_basic"] }).notNull(),
    /** SHA-256 of the client's secret; null for a public client. */
    secretHash: text(),
    grantTypes: text().array().notNull(),
    /** What its registrations have in common, so that one that registers again is recognized; null: from before. */
    app: text(),
    createdAt: instant().notNull().defaultNow(),
    /** When the metadata document has to be fetched again; null for a registered client. */
    staleAt: instant(),
    lastUsedAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.lastUsedAt), index().on(table.app)],
);

/** Anyone may register clients, so one without a grant is removed a week after its last use. */
export const oauthClientRetention: RetentionRule = {
  until: "expired",
  condition: (moment) =>
    sql`${oauthClient.lastUsedAt} < ${daysBefore(moment, 7)}
      AND NOT EXISTS (SELECT 1 FROM oauth_grant WHERE oauth_grant.client_id = ${oauthClient.id})`,
};
