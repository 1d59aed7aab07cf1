import type { Builder } from "@towpath/builder";
import type { Context, SourceServices } from "@towpath/core/context";
import type { OpenReplayServer, QuestionModel } from "@towpath/core/delivery/replay";
import type { GitHubReporter, PostState } from "@towpath/core/delivery/report";
import { type JobName, systemClock } from "@towpath/core/ports";
import type { DatabaseClient } from "@towpath/db";
import type { RunnerClient } from "@towpath/runner-api";
import type { Isolation } from "@towpath/runtime";
import type { SpanSink } from "@towpath/telemetry/trace";
import type { Logger } from "pino";
import type { EndedBuild } from "./metrics.ts";
import type { Disk } from "./retention/disk.ts";

/** The context in which a job calls core's verbs. */
export type JobContext = Context<SourceServices | "packages" | "externalServers" | "domainNames" | "webhooks" | "mail">;

/** Dependencies of the jobs; created once, in `compose.ts`. */
export type Services = Omit<JobContext, "db" | "actor" | "clock" | "checked"> & {
  readonly database: DatabaseClient;
  readonly gitHubReporter: GitHubReporter;
  readonly postState: PostState;
  readonly builder: Builder;
  readonly runner: RunnerClient;
  /** Calls servers for the check of a pull request. */
  readonly openReplayServer: OpenReplayServer;
  /** Is asked saved questions for it; null: none is configured. */
  readonly questionModel: QuestionModel | null;
  /** Result of the driver's self-test. */
  readonly isolation: () => Promise<Isolation>;
  /** Marks the builds of this process, so that the next worker on this host can tell that it has ended. */
  readonly workerName: string;
  readonly log: Logger;
  /** Pause between two heartbeats of a running build, milliseconds. */
  readonly heartbeatMs: number;
  readonly disk: Pick<Disk, "look">;
  /** Counts a build that has ended. */
  readonly buildEnded: (ended: EndedBuild) => void;
  /** Null: nothing is traced. */
  readonly spans: SpanSink | null;
  /** Sends a message of the queue. */
  readonly deliverMail: (mailId: string) => Promise<unknown>;
};

export function jobContext(
  services: Services,
  job:
    | JobName
    | "sweep"
    | "external-servers"
    | "domains"
    | "gradual-releases"
    | "missed-deliveries"
    | "package-versions"
    | "git-sources"
    | "github-connections"
    | "error-groups"
    | "github-repositories"
    | "alerts",
): JobContext {
  return {
    db: services.database.db,
    actor: { kind: "job", job },
    queue: services.queue,
    clock: systemClock,
    serverUrlTemplate: services.serverUrlTemplate,
    dashboardUrl: services.dashboardUrl,
    repositories: services.repositories,
    gitRemotes: services.gitRemotes,
    instanceRepositories: services.instanceRepositories,
    packages: services.packages,
    secrets: services.secrets,
    externalServers: services.externalServers,
    domainNames: services.domainNames,
    webhooks: services.webhooks,
    mail: services.mail,
  };
}
