import { sql } from "drizzle-orm";
import { index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * A domain of its own of a server or portal (OPS-12). It leads there once a DNS record with `token` has shown that it is
 * theirs; until then several projects may have asked for it. Gateways read active ones with the routes, so changes
 * notify `towpath_route` (a trigger, see migrations).
 */
export const domain = pgTable(
  "domain",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    /** Lower case, international names in ASCII (RFC 5890). */
    name: text().notNull(),
    token: text().notNull(),
    /** Since when it leads to the server; null: it doesn't. */
    activeAt: instant(),
    /** When the record with the token was last seen, and why it wasn't at the last check. */
    ownershipSeenAt: instant(),
    ownershipProblem: text(),
    /** When the name was last seen to lead to this instance, and why it didn't at the last check. */
    addressSeenAt: instant(),
    addressProblem: text(),
    /** When its records were last looked up, and when they will be next. */
    checkedAt: instant(),
    nextCheckAt: instant().notNull().defaultNow(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex().on(table.projectId, table.name),
    uniqueIndex("domain_active_index").on(table.name).where(sql`${table.activeAt} IS NOT NULL`),
    index().on(table.nextCheckAt),
  ],
);

export const domainRetention: RetentionRule = { until: "owner" };
