import { customType, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

const bytea = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** The picture that a person has uploaded. `user.image` is its address, or that of an issuer's picture. */
export const userPicture = pgTable("user_picture", {
  userId: uuid()
    .primaryKey()
    .references(() => user.id, { onDelete: "cascade" }),
  /** A PNG of 256 × 256 pixels without metadata, as `checkedPicture` accepts it. */
  png: bytea().notNull(),
  /** SHA-256 of the PNG, hex; part of its address, so that browsers can keep it. */
  digest: text().notNull(),
  updatedAt: instant().notNull().defaultNow(),
});

export const userPictureRetention: RetentionRule = { until: "owner" };
