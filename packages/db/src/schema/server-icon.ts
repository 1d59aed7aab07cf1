import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytea, instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** The icon that a server named in a handshake; manifests refer to it by its hash. */
export const serverIcon = pgTable(
  "server_icon",
  {
    projectId: ownedBy(() => project.id),
    /** SHA-256 of the bytes, base64url without padding. */
    hash: text().notNull(),
    /** image/png | image/webp | image/jpeg, as the bytes say. */
    contentType: text().notNull(),
    bytes: bytea().notNull(),
    createdAt: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.hash] }), index().on(table.hash)],
);

export const serverIconRetention: RetentionRule = { until: "owner" };
