import type { ForgeConfig } from "./config.ts";
import type { Database } from "./state/database.ts";
import type { Deliverer } from "./webhooks/deliver.ts";

/** Passed to every part of the forge. */
export type ForgeContext = {
  readonly config: ForgeConfig;
  /** `${dataDirectory}/forge` */
  readonly directory: string;
  readonly database: Database;
  readonly deliverer: Deliverer;
  /** Serializes calls for the same repository. */
  readonly inRepository: <Result>(repositoryId: number, work: () => Promise<Result>) => Promise<Result>;
};

/** The App's permissions; installation tokens have these or fewer. */
export const appPermissions = {
  administration: "write",
  checks: "write",
  contents: "write",
  deployments: "write",
  issues: "write",
  members: "read",
  metadata: "read",
  pull_requests: "write",
  statuses: "write",
} as const;

export const appEvents = ["check_run", "create", "delete", "pull_request", "push", "repository"] as const;
export const appName = "Towpath";
