import { forgetDataUsage, projectsThatKeepData, recordDataUsage } from "@towpath/core/data-volume";
import type { Database } from "@towpath/db";
import type { HostReport } from "@towpath/runtime";

const everyMs = 60_000;

type Host = Pick<HostReport, "name" | "data">;

/** Stores how full the servers' `/data` is, and deletes that of deleted projects and what was switched off (BLD-19). */
export async function dataRound(db: Database, { name, data }: Host, now = new Date()): Promise<void> {
  await recordDataUsage(db, { host: name, volumes: await data.usage(), at: now });
  await forgetDataUsage(db, await data.remove((ids) => projectsThatKeepData(db, ids, now)));
}

/** A round a minute. */
export function startDataRounds(
  db: Database,
  host: Host,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  let running: Promise<void> | null = null;
  const timer = setInterval(() => {
    running ??= dataRound(db, host)
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
