import { sql } from "drizzle-orm";
import { check, index, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { bytea, instant } from "./columns.ts";
import { organization } from "./organization.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/** The picture that a person uploaded for themselves or for an organization; its address contains the hash. */
export const picture = pgTable(
  "picture",
  {
    id: uuid().primaryKey(),
    /** Whose it is: a person's, or else an organization's. */
    userId: uuid()
      .unique()
      .references(() => user.id, { onDelete: "cascade" }),
    organizationId: uuid()
      .unique()
      .references(() => organization.id, { onDelete: "cascade" }),
    /** SHA-256 of the bytes, base64url without padding. Two owners can have the same picture. */
    hash: text().notNull(),
    /** image/png | image/webp | image/jpeg, as the bytes say. */
    contentType: text().notNull(),
    bytes: bytea().notNull(),
    createdAt: instant().notNull(),
  },
  (table) => [
    index().on(table.hash),
    check("picture_owner", sql`num_nonnulls(${table.userId}, ${table.organizationId}) = 1`),
  ],
);

export const pictureRetention: RetentionRule = { until: "owner" };
