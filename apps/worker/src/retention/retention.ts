import type { ArtifactStore, FirstReleaseLayers } from "@towpath/artifacts";
import { aloneAmongWorkers, mergeRemovals, type Removal, sweepRows } from "@towpath/core/operations/retention";
import type { Round } from "@towpath/role";
import type { RuntimeDriver } from "@towpath/runtime";
import type { Registry } from "prom-client";
import { jobContext, type Services } from "../services.ts";
import type { RetentionConfig } from "./config.ts";
import { type Disk, reportDisk } from "./disk.ts";
import { sweepFiles } from "./files.ts";
import { RetentionMetrics } from "./metrics.ts";

const reportEveryMs = 20_000;
/** Measuring is expensive: it reads every directory. */
const measureEveryMs = 600_000;

export type RetentionParts = {
  readonly services: Services;
  readonly config: RetentionConfig;
  readonly driver: Pick<RuntimeDriver, "builds" | "host">;
  readonly store: ArtifactStore;
  readonly firstRelease: FirstReleaseLayers;
  readonly disk: Disk;
  /** Gets its metrics. */
  readonly registry: Registry;
};

/**
 * One round (LOG-6): rows first, because rows decide which files are needed. One worker at a time removes rows, and one
 * on each host removes files; the others skip the round.
 */
async function retentionRound(parts: Omit<RetentionParts, "registry">, signal?: AbortSignal): Promise<Removal> {
  const { services, config, driver, disk } = parts;
  const ctx = jobContext(services, "sweep");
  const now = ctx.clock.now();
  const rows = await sweepRows({ ctx, input: { now, policy: config.policy, ...(signal && { signal }) } });
  const files = await aloneAmongWorkers(ctx, `towpath_retention_files ${driver.host.name}`, async () =>
    sweepFiles({
      ctx,
      now,
      builds: driver.builds,
      store: parts.store,
      firstRelease: parts.firstRelease,
      cacheBytes: config.cacheBytes,
      low: (await disk.look()).low,
      ...(signal && { signal }),
    }),
  );
  const swept = mergeRemovals([rows, files].filter((each) => each !== null));
  const removed = Object.fromEntries(Object.entries(swept.removed).filter(([, count]) => count > 0));
  if (Object.keys(removed).length > 0) services.log.info({ removed }, "retention: removed what has expired");
  for (const { name, error } of swept.problems) services.log.warn({ err: error, name }, "retention: a step failed");
  return swept;
}

/** The rounds of retention and of the reports about the disk. */
export function retentionRounds(parts: RetentionParts): readonly Round[] {
  const { services, config, driver, disk, registry } = parts;
  const metrics = new RetentionMetrics(registry, disk);
  const round = async (signal: AbortSignal) => metrics.swept(await retentionRound(parts, signal));
  let wasLow = false;
  const report = async (signal: AbortSignal) => {
    const { low, ...sizes } = await reportDisk(services.database.db, driver.host.name, disk);
    if (low !== wasLow)
      services.log.warn({ low, ...sizes }, low ? "disk almost full: no builds" : "disk has room again");
    // Don't wait for the next round.
    if (low && !wasLow) await round(signal);
    wasLow = low;
  };
  return [
    { name: "measuring the disk", everyMs: measureEveryMs, run: (signal) => disk.measure(signal) },
    { name: "reporting the disk", everyMs: reportEveryMs, run: report },
    { name: "retention", everyMs: config.everyMs, run: round },
  ];
}
