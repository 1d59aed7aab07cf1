import type { Removal } from "@towpath/core/operations/retention";
import { currentRelease } from "@towpath/db/release";
import { Counter, Gauge, Registry } from "prom-client";
import type { Disk } from "./disk.ts";

/** What a worker removed and how full its disk is, for `/-/metrics` (LOG-6). */
export class RetentionMetrics {
  readonly #registry = new Registry();
  readonly #removed: Counter<"what">;
  readonly #problems: Counter<"what">;
  readonly #lastRound: Gauge;

  constructor(disk: Disk) {
    const registers = [this.#registry];
    const { version, commit, schema } = currentRelease();
    new Gauge({
      name: "towpath_build_info",
      help: "Always 1; the labels name the release",
      labelNames: ["version", "commit", "schema"],
      registers,
    }).set({ version, commit: commit ?? "", schema: schema ?? "" }, 1);
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
    new Gauge({
      name: "towpath_data_bytes",
      help: "What the directories of the data directory hold",
      labelNames: ["folder"],
      registers,
      async collect() {
        const { kinds } = await disk.look();
        this.reset();
        for (const [directory, bytes] of Object.entries(kinds)) this.set({ folder: directory }, bytes);
      },
    });
    new Gauge({
      name: "towpath_disk_bytes",
      help: "The disk of the data directory; available: what Towpath may still use; reserve: below it no build starts",
      labelNames: ["kind"],
      registers,
      async collect() {
        const { totalBytes, freeBytes, availableBytes, reserveBytes } = await disk.look();
        this.set({ kind: "total" }, totalBytes);
        this.set({ kind: "free" }, freeBytes);
        this.set({ kind: "available" }, availableBytes);
        this.set({ kind: "reserve" }, reserveBytes);
      },
    });
  }

  swept(removal: Removal): void {
    for (const [what, count] of Object.entries(removal.removed)) this.#removed.inc({ what }, count);
    for (const { name } of removal.problems) this.#problems.inc({ what: name });
    this.#lastRound.setToCurrentTime();
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
