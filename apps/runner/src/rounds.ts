import { recordHostIsolation } from "@towpath/core/operations/host-isolation";
import type { Database } from "@towpath/db";
import type { Round } from "@towpath/role";
import type { RuntimeDriver } from "@towpath/runtime";
import { dataRound } from "./data/data-round.ts";

type Parts = {
  readonly db: Database;
  readonly driver: Pick<RuntimeDriver, "host" | "servers">;
  /** Digests of the layers of all servers. Rejects if one may be missing. */
  readonly layersInUse: () => Promise<ReadonlySet<string>>;
};

/** What a runner repeats while it serves. */
export function roundsOf({ db, driver: { host, servers }, layersInUse }: Parts): readonly Round[] {
  return [
    {
      // The dashboard reads it there, and knows by its age whether the runner is up.
      name: "the report of this host's isolation",
      everyMs: 30_000,
      run: async () => recordHostIsolation(db, { host: host.name, report: await host.selfTest(), at: new Date() }),
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
