import { FormerInstances } from "./former-instances.ts";
import type { Lease } from "./instance-lease.ts";

/** What a gateway process knows of a server. */
export type Entry = {
  lease: Lease | null;
  pending: Promise<Lease> | null;
  inFlight: number;
  usedAt: number;
  /** When the server was last known to be awake while the runner was unreachable. */
  awakeAt: number;
  /** Unused in its first half: not renewed until it is used again. */
  isIdle: boolean;
  readonly former: FormerInstances;
  timer: NodeJS.Timeout | undefined;
};

export const newEntry = (): Entry => ({
  lease: null,
  pending: null,
  inFlight: 0,
  usedAt: 0,
  awakeAt: 0,
  isIdle: false,
  former: new FormerInstances(),
  timer: undefined,
});
