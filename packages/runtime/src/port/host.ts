/** Which protections are in force on this host. */
export type Isolation = {
  readonly checks: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly required: boolean;
    readonly detail: string;
  }[];
  /** What servers and builds run in, `gvisor` within bubblewrap; `none` also if nothing runs. */
  readonly isolatedBy: "bubblewrap" | "gvisor" | "pods" | "none";
  /** Whether all required checks passed. */
  readonly trusted: boolean;
  /** Nothing runs: a required check failed, and no setting permits to run without it. */
  readonly refuses: boolean;
  /** Settings by which the operator relaxed the isolation, and their effect on this host. */
  readonly exceptions: readonly { readonly setting: string; readonly meaning: string }[];
  /** What can't run on this host, why, and what the operator can do, in whole sentences. */
  readonly problems: readonly string[];
};

/** A CPython, such as 3.11.7. */
export type InstalledPython = {
  readonly version: string;
  /** Whether it was downloaded; else it is the host's own. */
  readonly isDownloaded: boolean;
};

export type BroughtPython =
  /** `from`: the host of the download, or the path of a file. */
  | { readonly ok: true; readonly version: string; readonly from: string }
  /** `reason`: a sentence for the log; says what was tried. */
  | { readonly ok: false; readonly reason: string };

export type Pythons = {
  /** Available Pythons, newest first. */
  list(): Promise<readonly InstalledPython[]>;
  /** The version for a request such as `3.11`, `3.11.7`, `>=3.10,<3.13` or null (any); null if none matches. */
  find(request: string | null): Promise<string | null>;
  /** Downloads and installs a Python for such a request; one attempt at a time, for all builds. Never throws. */
  bring(request: string): Promise<BroughtPython>;
};

/** The disk that holds layers, caches and the scratch space of builds. */
export type Disk = {
  space(): Promise<{ readonly totalBytes: number; readonly freeBytes: number }>;
  /** Bytes on it by kind. Takes seconds if there are many files. */
  measure(signal: AbortSignal): Promise<Readonly<Record<string, number>>>;
};

export type DataUsage = { readonly id: string; readonly usedBytes: number; readonly capacityBytes: number };

/** Servers' `/data` (BLD-19). Without the capability `lastingData` there is none. */
export type LastingData = {
  /** Usage of the directories that were used since this driver started. */
  usage(): Promise<readonly DataUsage[]>;
  /** Why the last directory that a server needed could not be had, in whole sentences with the remedy; null: it could. */
  problem(): string | null;
  /** Deletes volumes that `kept` doesn't list, and resolves to their ids. Deletes none if it throws. */
  remove(kept: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<readonly string[]>;
};

/**
 * Copies of servers' `/data`, for back-ups: bytes that only the driver understands. On the host that has the data, beside
 * the driver that uses it.
 */
export type DataCopies = {
  list(): Promise<readonly string[]>;
  /** Passes a copy as of one moment to `write`, also while servers use it: they wait while the copy is made on the disk. */
  read(id: string, write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void>;
  /** Makes the data of such bytes. */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
};

/** A driver's report on its host. */
export type HostReport = {
  /** Names the host in reports and locks: equal for all processes that share its disk or its servers. */
  readonly name: string;
  /** Capacity for all servers together; infinite if a scheduler decides. */
  readonly capacity: { readonly memoryBytes: number; readonly processors: number };
  /** Tests the isolation from inside: tries to reach the host's files, environment and sockets, and neighbors. */
  selfTest(): Promise<Isolation>;
  readonly pythons: Pythons;
  readonly disk: Disk;
  readonly data: LastingData;
};
