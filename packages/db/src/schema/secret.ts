import { boolean, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

export const secret = pgTable(
  "secret",
  {
    id: uuid().primaryKey(),
    projectId: uuid()
      .notNull()
      .references(() => project.id, { onDelete: "cascade" }),
    keyName: text().notNull(),
    /** Subset of production, preview. */
    environments: text().array().notNull(),
    description: text(),
    sensitive: boolean().notNull().default(false),
    version: integer().notNull().default(1),
    /** AES-256-GCM: key id, nonce, ciphertext and tag, each base64url, joined by dots. */
    ciphertext: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.projectId, table.keyName)],
);

export const secretRetention: RetentionRule = { until: "deleted" };
