import { forgetDataUsage, projectsThatKeepData, recordDataUsage } from "@towpath/core/operations/data-volume";
import type { Database } from "@towpath/db";
import type { HostReport } from "@towpath/runtime";

/** Stores how full the servers' `/data` is, and deletes that of deleted projects and what was switched off (BLD-19). */
export async function dataRound(
  db: Database,
  { name, data }: Pick<HostReport, "name" | "data">,
  now = new Date(),
): Promise<void> {
  await recordDataUsage(db, { host: name, volumes: await data.usage(), at: now });
  await forgetDataUsage(db, await data.remove((ids) => projectsThatKeepData(db, ids, now)));
}
