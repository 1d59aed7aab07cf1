import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { organization } from "./organization.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

export const auditLog = pgTable(
  "audit_log",
  {
    id: uuid().primaryKey(),
    organizationId: uuid().references(() => organization.id, { onDelete: "cascade" }),
    projectId: uuid(),
    /** user:<id>, apiKey:<id>, operator, or job:<name> */
    actor: text().notNull(),
    /** The verb, for example `project.create`. */
    action: text().notNull(),
    subject: text(),
    detail: jsonb(),
    ipAddress: text(),
    createdAt: instant().notNull().defaultNow(),
  },
  (table) => [
    index().on(table.organizationId, table.createdAt),
    index().on(table.organizationId, table.actor, table.createdAt),
    index().on(table.createdAt),
  ],
);

export const auditLogRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`${auditLog.createdAt} < ${daysBefore(moment, moment.policy.auditDays)}`,
};
