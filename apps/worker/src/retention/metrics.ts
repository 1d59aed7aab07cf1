import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { Removal } from "@towpath/core/retention";
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

  /** Serves `/-/metrics` at a port of loopback or a socket, which is taken from a worker that was killed. */
  async listen(address: number | string): Promise<() => Promise<void>> {
    const server = createServer((request, response) => {
      if (request.url !== "/-/metrics") return void response.writeHead(404).end();
      this.text().then(
        (text) => response.writeHead(200, { "content-type": this.#registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    if (typeof address === "string") await rm(address, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      if (typeof address === "string") server.listen(address, resolve);
      else server.listen(address, "127.0.0.1", resolve);
    });
    return () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
  }
}
