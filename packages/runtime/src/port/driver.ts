import type { BuildDriver } from "./builds.ts";
import type { HostReport } from "./host.ts";
import type { ServerDriver } from "./servers.ts";

/**
 * What some drivers can do beyond what all do. `freeze`: suspend a server, which keeps its memory. `memory`: measure
 * what a server uses. `prewarm`: start an interpreter before its server is known. `lastingData`: keep `/data`.
 *
 * A driver may claim what a host of its turns out not to have; then the calls answer as without the capability.
 */
export type Capability = "freeze" | "memory" | "prewarm" | "lastingData";

/** What runs servers and builds (decision 019). Implemented by `sandbox`, on this host. */
export type RuntimeDriver = {
  readonly name: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly servers: ServerDriver;
  readonly builds: BuildDriver;
  readonly host: HostReport;
  /** Ends everything that this driver started or adopted, and removes what it made for that. */
  close(): Promise<void>;
};

/** What a process uses its driver for. */
export type DriverRole =
  /** It runs servers, which outlive it unless it closes the driver. */
  | {
      readonly kind: "servers";
      /** Higher than that of each runner before, whose servers this one adopts. */
      readonly generation: number;
      /** How long servers wait for the next runner, milliseconds. */
      readonly adoptWithinMs: number;
      /** A runner with a higher generation has taken over the servers. */
      readonly onSuperseded: () => void;
    }
  /** It builds, and starts servers only to inspect them. */
  | { readonly kind: "builds" };
