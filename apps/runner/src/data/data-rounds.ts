import { hostname } from "node:os";
import { forgetDataUsage, projectsThatKeepData, recordDataUsage } from "@towpath/core/data-volume";
import type { Database } from "@towpath/db";
import type { RuntimeDriver } from "@towpath/runtime";

const everyMs = 60_000;

/** Stores how full the servers' `/data` is, and deletes that of deleted projects and what was switched off (BLD-19). */
export async function dataRound(
  db: Database,
  driver: Pick<RuntimeDriver, "dataUsage" | "removeData">,
  now = new Date(),
): Promise<void> {
  await recordDataUsage(db, { host: hostname(), volumes: await driver.dataUsage(), at: now });
  await forgetDataUsage(db, await driver.removeData((ids) => projectsThatKeepData(db, ids, now)));
}

/** A round a minute. */
export function startDataRounds(
  db: Database,
  driver: Pick<RuntimeDriver, "dataUsage" | "removeData">,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= dataRound(db, driver)
      .catch(onError)
      .finally(() => {
        running = null;
      });
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
