import type { BuildDriver } from "./builds.ts";
import type { HostReport } from "./host.ts";
import type { ServerDriver } from "./servers.ts";

/**
 * Optional capabilities of drivers. `freeze`: suspend a server, which keeps its memory. `memory`: measure a server's
 * memory. `prewarm`: start an interpreter before its server is known. `lastingData`: keep `/data`. A driver may claim a
 * capability that its host turns out to lack; then the calls answer as without it.
 */
export type Capability = "freeze" | "memory" | "prewarm" | "lastingData";

/** Runs servers and builds (decision 019). Implemented by `sandbox`, on this host, and `kubernetes`. */
export type RuntimeDriver = {
  readonly name: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly servers: ServerDriver;
  /** Interpreters that it keeps at a time, at most; absent: as many as memory allows. */
  readonly maxPrewarmed?: number;
  readonly builds: BuildDriver;
  readonly host: HostReport;
  /**
   * Leads callers to this process, which listens on `port` now. Absent if they find it anyway. `onError` gets why that
   * fails for now; it is tried again.
   */
  lead?(port: number, onError: (error: unknown) => void): void;
  /**
   * Resolves when no other runner can have these servers: to be awaited before their lines are stored, which the next one
   * stores too. Absent: there is no other.
   *
   * @throws Error while that isn't known
   */
  sure?(): Promise<void>;
  /** Before a process ends that leaves its servers to the next one, which then need not wait. Absent if it needn't anyway. */
  leave?(): Promise<void>;
  /** Ends everything that this driver started or adopted, and cleans up after it. */
  close(): Promise<void>;
};

/**
 * Identifies a runner in the rows of its instances. Of runners with the same id, the one with the highest generation has
 * their servers, and only it may change their rows.
 */
export type RunnerIdentity = { readonly id: string; readonly generation: number };

/** How a process uses its driver. */
export type DriverRole =
  /** It runs servers, which outlive it unless it closes the driver. */
  | {
      readonly kind: "servers";
      /** Of `claimServers`. */
      readonly identity: RunnerIdentity;
      /** How long servers wait for the next runner, milliseconds. */
      readonly adoptWithinMs: number;
      /** A runner with a higher generation has taken over the servers. */
      readonly onSuperseded: () => void;
    }
  /** It builds, and starts servers only to inspect them. */
  | { readonly kind: "builds" };
