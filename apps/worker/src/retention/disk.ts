import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { recordHostStorage, type StorageReport } from "@towpath/core/host-storage";
import type { Database } from "@towpath/db";
import type { DiskSize } from "./config.ts";

export type DiskConfig = {
  readonly directory: string;
  readonly budget: DiskSize;
  readonly reserve: DiskSize;
  /** The Pythons of this host. */
  readonly pythons?: () => Promise<NonNullable<StorageReport["pythons"]>[number][]>;
};

/** How much disk space is left for Towpath's data on this host (LOG-6). */
export class Disk {
  readonly #config: DiskConfig;
  #kinds: Readonly<Record<string, number>> = {};
  #pythons: StorageReport["pythons"];

  constructor(config: DiskConfig) {
    this.#config = config;
  }

  /** The free space now; directories and Pythons are as of the last `measure`. */
  async look(): Promise<StorageReport> {
    const { directory, budget, reserve } = this.#config;
    const { bavail, bsize, blocks } = await statfs(directory);
    const [totalBytes, freeBytes] = [blocks * bsize, bavail * bsize];
    const used = Object.values(this.#kinds).reduce((sum, bytes) => sum + bytes, 0);
    const availableBytes = Math.max(0, Math.min(freeBytes, sizeOf(budget, totalBytes) - used));
    const reserveBytes = sizeOf(reserve, totalBytes);
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

  /** Measures the directories of the data directory. Takes seconds when they hold many files. */
  async measure(signal: AbortSignal): Promise<void> {
    this.#kinds = Object.fromEntries(await directoryBytes(this.#config.directory, signal));
    // Only shown: that uv fails is reported where a build needs it.
    this.#pythons = await this.#config.pythons?.().catch(() => this.#pythons);
  }
}

const sizeOf = (size: DiskSize, totalBytes: number): number =>
  size.kind === "bytes" ? size.bytes : Math.floor(size.part * totalBytes);

const program = ["/usr/bin/du", "/bin/du"].find((path) => existsSync(path)) ?? "/usr/bin/du";

/** Bytes on disk of each subdirectory, by name. What vanishes meanwhile doesn't count. */
export async function directoryBytes(parent: string, signal?: AbortSignal): Promise<Map<string, number>> {
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const sizes = new Map<string, number>();
  if (names.length === 0) return sizes;
  const output = await new Promise<string>((resolve, reject) => {
    const argv = ["--summarize", "--block-size=1", "--", ...names.map((name) => join(parent, name))];
    const options = {
      env: { LC_ALL: "C" },
      maxBuffer: 16 * 1024 ** 2,
      ...(signal && { signal }),
    };
    // du exits with 1 when a file vanished, and has printed the rest.
    execFile(program, argv, options, (error, stdout) =>
      error && typeof error.code !== "number" ? reject(error) : resolve(stdout),
    );
  });
  for (const line of output.split("\n")) {
    const [bytes = "", path = ""] = line.split("\t");
    if (path !== "") sizes.set(path.slice(parent.length + 1), Number(bytes));
  }
  return sizes;
}

/** Stores the disk's state in the database, where web reads it. */
export async function reportDisk(db: Database, disk: Disk): Promise<StorageReport> {
  const report = await disk.look();
  await recordHostStorage(db, { host: hostname(), report, at: new Date() });
  return report;
}

const gibibytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GB`;

/** For the log of a build that waits. It is written once, so it has no numbers that change. */
export const waitingForRoom = ({ reserveBytes }: StorageReport): string =>
  `Waiting: this instance's disk is almost full (less than ${gibibytes(reserveBytes)} left), so no build starts. Servers keep running. The build starts by itself when there is room; ask the instance's operator to free disk space.`;
