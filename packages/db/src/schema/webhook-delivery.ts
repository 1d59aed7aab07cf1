import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { daysAfter } from "./retention-rule.ts";

export const webhookDelivery = pgTable(
  "webhook_delivery",
  {
    /** X-GitHub-Delivery */
    id: text().primaryKey(),
    /** `number` of the GitHub connection that sent it; 0: the environment's. */
    connection: integer().notNull().default(0),
    event: text().notNull(),
    /** Null once processed. */
    payload: jsonb(),
    receivedAt: instant().notNull().defaultNow(),
    processedAt: instant(),
  },
  (table) => [
    index().on(table.receivedAt),
    index("webhook_delivery_open_index").on(table.receivedAt).where(sql`${table.processedAt} IS NULL`),
  ],
);

/**
 * Kept to recognize redeliveries, which GitHub sends for up to three days. Failed deliveries are retried for one day
 * and removed too.
 */
export const webhookDeliveryRetention = daysAfter(7, webhookDelivery.receivedAt);
