import type { Transaction } from "@towpath/db";
import { buildLog } from "@towpath/db/schema";
import { sql } from "drizzle-orm";
import type { BuildLogLine } from "./build-contract.schema.ts";

export type BuildNote = Omit<BuildLogLine, "time">;

/**
 * Adds the last line to a build's log in the transaction that ends the build: readers that see the end see it too.
 * The transaction holds the build's row, so the number is free (see `appendBuildLog`).
 */
export async function noteInBuildLog(tx: Transaction, buildId: string, time: Date, note: BuildNote): Promise<void> {
  await tx.insert(buildLog).values({
    buildId,
    line: sql`(SELECT coalesce(max(line), 0) + 1 FROM build_log WHERE build_id = ${buildId})`,
    time,
    ...note,
  });
  await tx.execute(sql`SELECT pg_notify('towpath_build_log', ${buildId})`);
}
