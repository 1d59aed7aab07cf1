import { build } from "@towpath/db/schema";
import { sql } from "drizzle-orm";

/** How many warnings a build has, without reading them. */
export const warningCount = sql<number>`coalesce(jsonb_array_length(${build.warnings}), 0)`;
