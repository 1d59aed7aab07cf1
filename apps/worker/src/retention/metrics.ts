import type { Removal } from "@towpath/core/operations/retention";
import { addReadings } from "@towpath/telemetry";
import { Counter, Gauge, type Registry } from "prom-client";
import type { Disk } from "./disk.ts";

/** What a worker removed and how full its disk is, for `/-/metrics` (LOG-6). */
export class RetentionMetrics {
  readonly #removed: Counter<"what">;
  readonly #problems: Counter<"what">;
  readonly #lastRound: Gauge;

  constructor(registry: Registry, disk: Disk) {
    const registers = [registry];
    this.#removed = new Counter({
      name: "towpath_retention_removed_total",
      help: "Rows, layers, caches and other things removed, by table or kind",
      labelNames: ["what"],
      registers,
    });
    this.#problems = new Counter({
      name: "towpath_retention_problems_total",
      help: "Steps of the clean-up that failed, by table or kind",
      labelNames: ["what"],
      registers,
    });
    this.#lastRound = new Gauge({
      name: "towpath_retention_last_round_timestamp_seconds",
      help: "When this worker's last round of the clean-up ended",
      registers,
    });
    addReadings(registry, [
      {
        name: "towpath_data_bytes",
        help: "What the directories of the data directory hold",
        kind: "gauge",
        labels: ["folder"],
        read: async () => Object.entries((await disk.look()).kinds).map(([folder, bytes]) => [{ folder }, bytes]),
      },
      {
        name: "towpath_disk_bytes",
        help: "The disk of the data directory; available: what Towpath may still use; reserve: below it no build starts",
        kind: "gauge",
        labels: ["kind"],
        async read() {
          const { totalBytes, freeBytes, availableBytes, reserveBytes } = await disk.look();
          const sizes = { total: totalBytes, free: freeBytes, available: availableBytes, reserve: reserveBytes };
          return Object.entries(sizes).map(([kind, bytes]) => [{ kind }, bytes]);
        },
      },
    ]);
  }

  swept(removal: Removal): void {
    for (const [what, count] of Object.entries(removal.removed)) this.#removed.inc({ what }, count);
    for (const { name } of removal.problems) this.#problems.inc({ what: name });
    this.#lastRound.setToCurrentTime();
  }
}
