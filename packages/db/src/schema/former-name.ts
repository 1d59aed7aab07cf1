import { index, pgTable, text } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import { daysAfter } from "./retention-rule.ts";

/**
 * A former name of a renamed project. Until it expires, the name leads to the project's pages and its label to the
 * server, and no other project can have it: a client that still calls the old address must not reach somebody else.
 */
export const formerName = pgTable(
  "former_name",
  {
    /** Lower case: the project's name then, and the host label of its server. */
    name: text().primaryKey(),
    projectId: ownedBy(() => project.id),
    createdAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
  },
  (table) => [index().on(table.projectId), index().on(table.expiresAt)],
);

export const formerNameRetention = daysAfter(0, formerName.expiresAt);
