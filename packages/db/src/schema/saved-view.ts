import { foreignKey, index, jsonb, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { member, organization } from "./organization.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/** What a list's address says in addition to its path: filters, order and time range. */
export type ViewSearch = Readonly<Record<string, string | number | boolean>>;

/** Filters of a list, saved under a name, by a member for themselves or for the whole organization (CAP-7). */
export const savedView = pgTable(
  "saved_view",
  {
    id: uuid().primaryKey(),
    organizationId: ownedBy(() => organization.id),
    /** Whose list it is; null for a list of the organization. */
    projectId: uuid().references(() => project.id, { onDelete: "cascade" }),
    /** One of the lists in core's `operations/saved-view`. */
    list: text().notNull(),
    /** The member who has it alone; null: it is shared with all members. */
    userId: uuid(),
    name: text().notNull(),
    search: jsonb().$type<ViewSearch>().notNull(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (table) => [
    unique("saved_view_name")
      .on(table.organizationId, table.userId, table.projectId, table.list, table.name)
      .nullsNotDistinct(),
    // A member's own views end with the membership. Doesn't apply to shared ones, whose column is null.
    foreignKey({
      name: "saved_view_member",
      columns: [table.organizationId, table.userId],
      foreignColumns: [member.organizationId, member.userId],
    }).onDelete("cascade"),
    index().on(table.projectId),
  ],
);

export const savedViewRetention: RetentionRule = { until: "owner" };

/** The view with which a list opens for a member. */
export const defaultView = pgTable(
  "default_view",
  {
    id: uuid().primaryKey(),
    viewId: ownedBy(() => savedView.id),
    organizationId: uuid().notNull(),
    userId: uuid().notNull(),
    /** As in the view. */
    projectId: uuid().references(() => project.id, { onDelete: "cascade" }),
    list: text().notNull(),
  },
  (table) => [
    unique("default_view_list").on(table.organizationId, table.userId, table.projectId, table.list).nullsNotDistinct(),
    foreignKey({
      name: "default_view_member",
      columns: [table.organizationId, table.userId],
      foreignColumns: [member.organizationId, member.userId],
    }).onDelete("cascade"),
    index().on(table.viewId),
    index().on(table.projectId),
  ],
);

export const defaultViewRetention: RetentionRule = { until: "owner" };
