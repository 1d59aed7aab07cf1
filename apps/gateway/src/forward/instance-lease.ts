import type { StartAttempt } from "@towpath/logs/schema";
import { partsOf, type ServerEndpoint, type ServerKey } from "@towpath/runner-api";
import type { Dispatcher } from "undici";

/** Permission to send requests to an instance: the runner neither freezes nor stops it before `validUntil`. */
export type Lease = {
  readonly server: ServerKey;
  /** The one of `server`. */
  readonly deploymentId: string;
  readonly instanceId: string;
  readonly endpoint: ServerEndpoint;
  readonly upstream: Dispatcher;
  /** performance.now() milliseconds, counted from when the lease was requested. */
  readonly validUntil: number;
  /** What the runner had to do for it. */
  readonly start: StartAttempt;
};

export const leaseOf = (server: ServerKey, more: Omit<Lease, "server" | "deploymentId">): Lease => ({
  server,
  deploymentId: partsOf(server).deploymentId,
  ...more,
});
