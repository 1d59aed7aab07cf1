import { index, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { organization } from "./organization.ts";

export const auditLog = pgTable(
  "audit_log",
  {
    id: uuid().primaryKey(),
    organizationId: uuid().references(() => organization.id, { onDelete: "cascade" }),
    projectId: uuid(),
    /** user:<id>, operator, or job:<name> */
    actor: text().notNull(),
    /** The verb, for example `project.create`. */
    action: text().notNull(),
    subject: text(),
    detail: jsonb(),
    ipAddress: text(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [index().on(table.organizationId, table.createdAt)],
);
