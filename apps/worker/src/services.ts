import type { Builder } from "@towpath/builder";
import type { Actor, Context } from "@towpath/core/context";
import {
  type ExternalServers,
  type GitRemotes,
  type InstanceRepositories,
  type JobName,
  type JobQueue,
  type PackageIndex,
  type RepositoryHost,
  systemClock,
} from "@towpath/core/ports";
import type { GitHubReporter, PostState } from "@towpath/core/report";
import type { DatabaseClient } from "@towpath/db";
import type { RunnerClient } from "@towpath/runner-api";
import type { Isolation } from "@towpath/runtime";
import type { SecretBox } from "@towpath/secrets";
import type { Logger } from "pino";
import type { Disk } from "./retention/disk.ts";

/** Dependencies of the jobs; created once, in `compose.ts`. */
export type Services = {
  readonly database: DatabaseClient;
  readonly queue: JobQueue;
  /** Of all connections: numbers of installations and repositories are Towpath's (decision 054). */
  readonly repositories: RepositoryHost;
  readonly gitRemotes: GitRemotes;
  readonly instanceRepositories: InstanceRepositories;
  readonly gitHubReporter: GitHubReporter;
  readonly postState: PostState;
  readonly packages: PackageIndex;
  readonly builder: Builder;
  readonly runner: RunnerClient;
  /** Result of the driver's self-test. */
  readonly isolation: () => Promise<Isolation>;
  readonly serverUrlTemplate: string;
  /** Origin of the dashboard. */
  readonly dashboardUrl: string;
  readonly secrets: SecretBox;
  readonly externalServers: ExternalServers;
  /** Marks the builds of this process, so that the next worker on this host can tell that it has ended. */
  readonly workerName: string;
  readonly log: Logger;
  /** Pause between two heartbeats of a running build, milliseconds. */
  readonly heartbeatMs: number;
  readonly disk: Pick<Disk, "look">;
  /** Sends a message of the queue. */
  readonly deliverMail: (mailId: string) => Promise<unknown>;
};

/** The context in which a job calls core's verbs. */
export function jobContext(
  services: Services,
  job:
    | JobName
    | "sweep"
    | "external-servers"
    | "missed-deliveries"
    | "package-versions"
    | "git-sources"
    | "github-connections"
    | "github-repositories",
): Context {
  const actor: Actor = { kind: "job", job };
  return {
    db: services.database.db,
    actor,
    queue: services.queue,
    clock: systemClock,
    serverUrlTemplate: services.serverUrlTemplate,
    repositories: services.repositories,
    gitRemotes: services.gitRemotes,
    instanceRepositories: services.instanceRepositories,
    packages: services.packages,
    secrets: services.secrets,
    externalServers: services.externalServers,
  };
}
