import type { ServerKey } from "@towpath/runner-api";
import type { Places, Seat } from "../places/places.ts";
import type { Instance, OpenedDeployment } from "./instance.ts";
import type { InstanceRecord } from "./instance-record.ts";
import type { LaunchParts } from "./launch.ts";

export type DeploymentServerParts = LaunchParts & {
  readonly server: ServerKey;
  readonly record: InstanceRecord;
  /** Throws RunnerError `not_found`. */
  readonly owner: () => Promise<ServerOwner>;
  /** Throws RunnerError `not_found` or DeploymentUnusable. */
  readonly open: () => Promise<OpenedDeployment>;
  readonly places: Places;
  /** Has it started again, at its turn among all that ended with the shim. */
  readonly startAgain: () => void;
};

/** Whose it is. */
export type ServerOwner = Pick<Seat, "organizationId" | "callers">;

/** A server that was running when this runner started. */
export type Adoption = {
  readonly server: ServerKey;
  readonly owner: ServerOwner;
  readonly instance: Instance;
  /** See `OpenedDeployment`. */
  readonly valuesStamp: string | null;
  /** Failures in a row before it started. */
  readonly failures: number;
};
