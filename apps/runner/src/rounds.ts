import { recordHostIsolation } from "@towpath/core/operations/host-isolation";
import type { Database } from "@towpath/db";
import type { Round } from "@towpath/role";
import type { Isolation, RuntimeDriver } from "@towpath/runtime";
import type { Logger } from "pino";
import { dataRound } from "./data/data-round.ts";
import type { Needs } from "./needs.ts";

type Parts = {
  readonly db: Database;
  readonly driver: Pick<RuntimeDriver, "host" | "servers">;
  /** Digests of the layers of all servers. Rejects if one may be missing. */
  readonly layersInUse: () => Promise<ReadonlySet<string>>;
  /** Called with each report on the host. */
  readonly onIsolation: (report: Isolation) => void;
  readonly needs: Needs;
};

/** What a runner repeats while it serves. */
export function roundsOf({ db, driver: { host, servers }, layersInUse, onIsolation, needs }: Parts): readonly Round[] {
  return [
    { name: "the check of bucket and clock", everyMs: 300_000, run: () => needs.check() },
    {
      // The dashboard reads it there, and knows by its age whether the runner is up.
      name: "the report of this host's isolation",
      everyMs: 30_000,
      run: async () => {
        const report = await host.selfTest();
        onIsolation(report);
        const { warnings } = needs;
        await recordHostIsolation(db, { host: host.name, report: { ...report, warnings }, at: new Date() });
      },
    },
    { name: "volume maintenance", everyMs: 60_000, run: () => dataRound(db, host) },
    {
      name: "the removal of unpacked layers",
      everyMs: 600_000,
      // After a night without power no layer has been used for hours, until callers come back.
      isDelayed: true,
      run: async () => servers.evictLayers(await layersInUse()),
    },
  ];
}

/** Logs what is missing, again when it changes. */
export function logsIsolation(log: Logger): (isolation: Isolation) => void {
  let logged = "[]";
  return ({ checks, trusted, problems }) => {
    const failed = checks.filter((check) => !check.ok);
    if (JSON.stringify(failed) === logged) return;
    logged = JSON.stringify(failed);
    if (!trusted) log.error({ failed, problems }, "servers are not isolated on this host");
    else if (failed.length > 0) log.warn({ failed, problems }, "some protections are missing on this host");
    else log.info("all protections are in force");
  };
}
