import { index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { user } from "./user.ts";

/** A person's own value of a variable that is per caller (CAP-1). Nobody else reads it, the server's owner included. */
export const callerValue = pgTable(
  "caller_value",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    userId: ownedBy(() => user.id),
    /** Of the variable; it may be deleted and made again meanwhile. */
    keyName: text().notNull(),
    version: integer().notNull().default(1),
    /** See `createSecretBox` of packages/secrets; bound to the person. */
    ciphertext: text().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (table) => [uniqueIndex().on(table.projectId, table.userId, table.keyName), index().on(table.userId)],
);

export const callerValueRetention: RetentionRule = { until: "owner" };
