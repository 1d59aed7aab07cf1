import { recordHostStorage, type StorageReport } from "@towpath/core/operations/host-storage";
import { bytesOf, type DiskSize } from "@towpath/core/operations/host-storage/schema";
import type { Database } from "@towpath/db";
import type { HostReport } from "@towpath/runtime";

type DiskLimits = { readonly budget: DiskSize; readonly reserve: DiskSize };
type Host = Pick<HostReport, "disk" | "pythons">;

/** How much disk space is left for Towpath's data on this host (LOG-6). */
export class Disk {
  readonly #host: Host;
  readonly #limits: DiskLimits;
  #kinds: Readonly<Record<string, number>> = {};
  #pythons: StorageReport["pythons"];

  constructor(host: Host, limits: DiskLimits) {
    this.#host = host;
    this.#limits = limits;
  }

  /** The free space now; directories and Pythons are as of the last `measure`. */
  async look(): Promise<StorageReport> {
    const { budget, reserve } = this.#limits;
    const { totalBytes, freeBytes } = await this.#host.disk.space();
    const used = Object.values(this.#kinds).reduce((sum, bytes) => sum + bytes, 0);
    const availableBytes = Math.max(0, Math.min(freeBytes, bytesOf(budget, totalBytes) - used));
    const reserveBytes = bytesOf(reserve, totalBytes);
    const low = availableBytes < reserveBytes;
    return {
      totalBytes,
      freeBytes,
      availableBytes,
      reserveBytes,
      low,
      kinds: this.#kinds,
      ...(this.#pythons && { pythons: this.#pythons }),
    };
  }

  /** Measures the data directory. Takes seconds when it holds many files. */
  async measure(signal: AbortSignal): Promise<void> {
    this.#kinds = await this.#host.disk.measure(signal);
    // Only shown: that uv fails is reported where a build needs it.
    const found = await this.#host.pythons.list().catch(() => null);
    if (found !== null) this.#pythons = [...found];
  }
}

/** Stores the disk's state in the database, where web reads it. */
export async function reportDisk(db: Database, host: string, disk: Disk): Promise<StorageReport> {
  const report = await disk.look();
  await recordHostStorage(db, { host, report, at: new Date() });
  return report;
}

const gibibytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GB`;

/** For the log of a build that waits. It is written once, so it has no numbers that change. */
export const waitingForRoom = ({ reserveBytes }: StorageReport): string =>
  `Waiting: this instance's disk is almost full (less than ${gibibytes(reserveBytes)} left), so no build starts. Servers keep running. The build starts by itself when there is room; ask the instance's operator to free disk space.`;
