import { index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * Chosen tools, resources and prompts of several servers behind one endpoint (ORG-3). Its project, of the kind `portal`,
 * has its name, auth mode, access policy, limits and request log. Gateways read it with the routes, so every change
 * notifies `towpath_route` (triggers, see migrations).
 */
export const portal = pgTable(
  "portal",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    /** Instructions for clients on the portal as a whole; null: none. */
    instructions: text(),
    /** Incremented by each change, to detect that two people change it at once. */
    revision: integer().notNull().default(1),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [uniqueIndex().on(table.projectId)],
);

export const portalRetention: RetentionRule = { until: "owner" };

/** A server of a portal, with its items in the portal. Null in place of a list: all items, including later ones. */
export const portalServer = pgTable(
  "portal_server",
  {
    portalId: ownedBy(() => portal.id),
    /** The server's project: hosted or external, of the same organization. */
    projectId: ownedBy(() => project.id),
    position: integer().notNull(),
    /** Prefix of names that two servers of the portal share: letters, digits and hyphens. */
    prefix: text().notNull(),
    tools: text().array(),
    /** URIs, and URI templates. */
    resources: text().array(),
    prompts: text().array(),
  },
  (table) => [
    primaryKey({ columns: [table.portalId, table.projectId] }),
    uniqueIndex().on(table.portalId, table.prefix),
    index().on(table.projectId),
  ],
);

export const portalServerRetention: RetentionRule = { until: "owner" };
