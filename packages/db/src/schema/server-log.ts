import { sql } from "drizzle-orm";
import { bigint, index, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import type { RetentionRule } from "./retention-rule.ts";

// Partitioned by day, like request_log.

/** A line from a server's stdout or stderr, or from the platform about it. */
export const serverLog = pgTable(
  "server_log",
  {
    id: bigint({ mode: "number" }).generatedAlwaysAsIdentity(),
    time: instant().notNull(),
    projectId: uuid().notNull(),
    deploymentId: uuid().notNull(),
    instanceId: uuid(),
    /** stdout | stderr | platform */
    stream: text().notNull(),
    /** debug | info | warning | error */
    level: text().notNull(),
    /**
     * The request during which the line was printed; null for others. The server may claim any id: filter by project.
     */
    requestId: uuid(),
    line: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.time, table.id] }),
    index().on(table.deploymentId, table.id.desc()),
    index("server_log_request_index")
      .on(table.projectId, table.requestId, table.id.asc())
      .where(sql`${table.requestId} IS NOT NULL`),
  ],
);

export const serverLogRetention: RetentionRule = { until: "days", days: (policy) => policy.serverLogDays };
