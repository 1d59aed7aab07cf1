import { foreignKey, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { member } from "./organization.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** A person's own value of a variable that is per caller (CAP-1). Nobody else reads it, the server's owner included. */
export const callerValue = pgTable(
  "caller_value",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    organizationId: uuid().notNull(),
    userId: uuid().notNull(),
    /** Of the variable; it may be deleted and made again meanwhile. */
    keyName: text().notNull(),
    version: integer().notNull().default(1),
    /** See `createSecretBox` of packages/secrets; bound to the person. */
    ciphertext: text().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (table) => [
    uniqueIndex().on(table.projectId, table.userId, table.keyName),
    index().on(table.organizationId, table.userId),
    // Ends with the membership.
    foreignKey({
      name: "caller_value_member",
      columns: [table.organizationId, table.userId],
      foreignColumns: [member.organizationId, member.userId],
    }).onDelete("cascade"),
  ],
);

export const callerValueRetention: RetentionRule = { until: "owner" };
