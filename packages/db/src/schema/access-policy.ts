import { integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant, keyedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * Who may call a project's server, and which of its tools (GW-15). No row: the defaults apply. Gateways read it with the
 * routes, so every change notifies `towpath_route` (a trigger, see migrations).
 */
export const accessPolicy = pgTable("access_policy", {
  projectId: keyedBy(() => project.id),
  /** Subset of owner, admin, member, viewer; null: the roles with the permission `server.call`. */
  roles: text().array(),
  /** Ids of API keys; null: all keys of the organization. Deleted keys may remain: ids are never used again. */
  apiKeyIds: uuid().array(),
  /** Names; null: all tools. Tools that a later version adds are in no list, so they can't be called. */
  tools: text().array(),
  /** Names of the tools that the live version had when `tools` was saved: all others are new. */
  knownTools: text().array().notNull().default([]),
  /** Incremented by each change, to detect that two people change it at once. */
  revision: integer().notNull().default(1),
  updatedAt: instant().notNull().defaultNow(),
});

export const accessPolicyRetention: RetentionRule = { until: "owner" };
