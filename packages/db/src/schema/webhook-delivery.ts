import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

export const webhookDelivery = pgTable(
  "webhook_delivery",
  {
    /** X-GitHub-Delivery */
    id: text().primaryKey(),
    event: text().notNull(),
    payload: jsonb().notNull(),
    receivedAt: instant().notNull().defaultNow(),
    processedAt: instant(),
  },
  (table) => [index("webhook_delivery_open_index").on(table.receivedAt).where(sql`${table.processedAt} IS NULL`)],
);
