import { sql } from "drizzle-orm";
import { boolean, index, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { daysAfter, type RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

// Ours, not better-auth's: decision 020.

export const organization = pgTable("organization", {
  id: uuid().primaryKey(),
  name: text().notNull(),
  slug: text().notNull().unique(),
  /** Former slugs, newest first: clone URLs contain them. Other organizations may take them. */
  formerSlugs: text().array().notNull().default(sql`'{}'`),
  logo: text(),
  metadata: text(),
  /** Whether anybody may see how its public servers are doing. */
  hasStatusPage: boolean().notNull().default(false),
  createdAt: instant().notNull().defaultNow(),
});

export const member = pgTable(
  "member",
  {
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    userId: ownedBy(() => user.id),
    /** owner | admin | member | viewer */
    role: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.organizationId, table.userId), index().on(table.userId)],
);

export const invitation = pgTable(
  "invitation",
  {
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    /** In lower case. */
    email: text().notNull(),
    role: text(),
    /** pending | accepted | revoked. One that is pending counts until it expires. */
    status: text().notNull(),
    /** The inviter, or whoever sent the invitation again. Null: the operator. */
    inviterId: uuid().references(() => user.id, { onDelete: "cascade" }),
    /** SHA-256 of the tokens of its links, oldest first: each link that was sent or copied has its own. */
    tokenHashes: text().array().notNull().default(sql`'{}'`),
    /** Who copied a link, by the hash of its token; null: the operator. All other links are the inviter's. */
    linkMakers: jsonb().$type<Readonly<Record<string, string | null>>>().notNull().default({}),
    /** The latest message about it in `mail_message`; null without a mail server. */
    mailId: uuid(),
    expiresAt: instant().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [
    index().on(table.organizationId),
    index().on(table.email),
    index().on(table.inviterId),
    uniqueIndex("invitation_pending").on(table.organizationId, table.email).where(sql`${table.status} = 'pending'`),
  ],
);

export const apikey = pgTable(
  "apikey",
  {
    id: uuid().primaryKey(),
    /** The organization that owns the key. */
    organizationId: uuid("reference_id").notNull(),
    /** The person for whom the key acts, while they are a member; null for a key of the organization itself. */
    userId: uuid().references(() => user.id, { onDelete: "cascade" }),
    /** The projects whose servers the key may call; null: all of the organization, future ones included. */
    projectIds: uuid().array(),
    /** `call`: it calls servers. `manage`: it also deploys, changes and deletes them over REST. */
    scope: text().notNull().default("call"),
    name: text(),
    /** The first characters of the key, which help users tell keys apart. */
    start: text(),
    /** SHA-256 of the key, base64url without padding. The key itself is shown once and never stored. */
    hash: text("key").notNull(),
    /** False: revoked. */
    enabled: boolean().default(true),
    expiresAt: instant(),
    /** When it was last used, to the minute. */
    lastRequest: instant(),
    createdByUserId: uuid().references(() => user.id, { onDelete: "set null" }),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex().on(table.hash),
    index().on(table.organizationId),
    index().on(table.createdByUserId),
    index().on(table.userId),
  ],
);

export const organizationRetention: RetentionRule = { until: "deleted" };

export const memberRetention: RetentionRule = { until: "owner" };

/** Removed a month after it expired, accepted or not. */
export const invitationRetention = daysAfter(30, invitation.expiresAt);

/** Includes expired and revoked keys: the list shows users which keys they created. */
export const apikeyRetention: RetentionRule = { until: "deleted" };
