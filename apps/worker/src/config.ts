import { availableParallelism } from "node:os";
import { type ArtifactsConfig, artifactsConfigSchema } from "@towpath/artifacts";
import { type BackupSchedule, backupScheduleSchema } from "@towpath/backup";
import { type BuilderConfig, defaultBuildLimits } from "@towpath/builder";
import { type ChatModel, chatSettings } from "@towpath/chat/config";
import { dnsSettings, externalNetworkSettings } from "@towpath/egress";
import { type RepositoriesKind, repositorySettings } from "@towpath/git";
import { type GitHubConfig, optionalGitHubConfig } from "@towpath/github";
import { type MailConfig, mailConfigSchema } from "@towpath/mail";
import { type IndexAddress, indexesOf, packageIndexSettings } from "@towpath/package-index";
import { type RunnerAddress, runnerAddressFrom, runnerSettings } from "@towpath/runner-api";
import {
  type DriverConfig,
  driverConfigFrom,
  driverSettings,
  serverLimitSettings,
  serverLimitsFrom,
} from "@towpath/runtime";
import { type RootSecrets, rootSecretsFrom, secretSettings } from "@towpath/secrets";
import type { MetricsAddress, OtlpSettings } from "@towpath/telemetry";
import { metricsAddressFrom, metricsPort, otlpFrom, telemetrySettings } from "@towpath/telemetry/config";
import { z } from "zod";
import type { BuildConcurrency } from "./jobs/jobs.ts";
import { type RetentionConfig, retentionConfigFrom, retentionSettings } from "./retention/config.ts";

const environmentSchema = z.object({
  DATABASE_URL: z.string().min(1),
  DATABASE_DIRECT_URL: z.string().min(1).optional(),
  ...driverSettings,
  ...secretSettings,
  /** The dashboard. */
  TOWPATH_URL: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).default("http://localhost:3000"),
  TOWPATH_SERVER_URL: z.string().includes("{name}", { message: "must contain {name}" }),
  TOWPATH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  ...externalNetworkSettings,
  ...dnsSettings,
  TOWPATH_PYTHON: z.string().optional(),
  /** Builds at the same time in this process. Default: one more than there are processors, at least 3. */
  TOWPATH_BUILD_CONCURRENCY: z.coerce.number().int().min(1).max(32).optional(),
  ...packageIndexSettings,
  ...repositorySettings,
  ...runnerSettings,
  ...retentionSettings,
  ...serverLimitSettings,
  ...telemetrySettings,
  TOWPATH_CHAT_MODELS: chatSettings.TOWPATH_CHAT_MODELS,
  TOWPATH_CHAT_TOKENS_PER_DAY: chatSettings.TOWPATH_CHAT_TOKENS_PER_DAY,
  /** Where `/-/metrics` is served; default: a socket in the run directory. */
  TOWPATH_WORKER_METRICS_PORT: metricsPort,
});

export type WorkerConfig = {
  readonly databaseUrl: string;
  /** Past a pooler, for LISTEN. */
  readonly directDatabaseUrl: string;
  readonly dataDirectory: string;
  readonly runDirectory: string;
  readonly runner: RunnerAddress;
  /** The keys of stored secrets are derived from these. */
  readonly secrets: RootSecrets;
  readonly serverUrl: string;
  /** Origin of the dashboard. */
  readonly dashboardUrl: string;
  readonly logLevel: string;
  readonly metrics: MetricsAddress;
  /** Null: nothing is traced. */
  readonly otlp: OtlpSettings | null;
  readonly builds: BuildConcurrency;
  /** What runs the builds. */
  readonly driver: DriverConfig;
  /** The indexes that builds install from; packages are looked up there. */
  readonly packageIndexes: readonly IndexAddress[];
  /** Networks in which external servers and Git repositories may be, in addition to public addresses. */
  readonly externalNetworks: readonly string[];
  /** Where DNS records of servers' domains are looked up; empty: where the host looks names up. */
  readonly dnsServers: readonly string[];
  readonly builder: BuilderConfig;
  readonly artifacts: ArtifactsConfig;
  /** Where repositories of this instance are stored. */
  readonly repositories: RepositoriesKind;
  /** The App set in the environment; null: only Apps connected in the dashboard. */
  readonly github: GitHubConfig | null;
  readonly retention: RetentionConfig;
  /** Null: this instance sends no mail. */
  readonly mail: MailConfig | null;
  readonly backups: BackupSchedule;
  /** Of checks of pull requests: the first model is asked the saved questions. */
  readonly chat: { readonly models: readonly ChatModel[]; readonly tokensPerDay: number };
  /** As it is, for back-ups: a restored instance needs the same settings. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Reads the worker's settings. Throws an Error whose message lists every problem at once. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): WorkerConfig {
  const result = environmentSchema.safeParse(environment);
  const mail = mailConfigSchema.safeParse(environment);
  const github = optionalGitHubConfig.safeParse(environment);
  const artifacts = artifactsConfigSchema.safeParse(environment);
  const backups = backupScheduleSchema.safeParse(environment);
  if (!result.success || !mail.success || !github.success || !artifacts.success || !backups.success) {
    const issues = [result, mail, github, artifacts, backups].flatMap((parsed) => parsed.error?.issues ?? []);
    const problems = issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`The worker's settings are not valid:\n${problems.join("\n")}`);
  }
  const values = result.data;
  const maxBuilds = values.TOWPATH_BUILD_CONCURRENCY ?? Math.max(3, availableParallelism() + 1);
  return {
    databaseUrl: values.DATABASE_URL,
    directDatabaseUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL,
    dataDirectory: values.TOWPATH_DATA_DIR,
    runDirectory: values.TOWPATH_RUN_DIR,
    runner: runnerAddressFrom(values),
    secrets: rootSecretsFrom(values),
    serverUrl: values.TOWPATH_SERVER_URL,
    dashboardUrl: new URL(values.TOWPATH_URL).origin,
    logLevel: values.TOWPATH_LOG_LEVEL,
    metrics: metricsAddressFrom(values, {
      role: "worker",
      port: values.TOWPATH_WORKER_METRICS_PORT,
      runDirectory: values.TOWPATH_RUN_DIR,
    }),
    otlp: otlpFrom(values),
    builds: { maxBuilds, maxBuildsPerOrganization: Math.max(1, maxBuilds - 1) },
    driver: driverConfigFrom(values, environment),
    packageIndexes: indexesOf(environment),
    externalNetworks: values.TOWPATH_EXTERNAL_NETWORKS,
    dnsServers: values.TOWPATH_DNS_SERVERS,
    builder: {
      defaultPython: values.TOWPATH_PYTHON ?? null,
      limits: {
        ...defaultBuildLimits,
        startMs: values.TOWPATH_START_TIMEOUT_MS,
        server: serverLimitsFrom(values),
      },
    },
    artifacts: artifacts.data,
    repositories: values.TOWPATH_REPOSITORIES,
    github: github.data,
    retention: retentionConfigFrom(values),
    mail: mail.data,
    backups: backups.data,
    chat: { models: values.TOWPATH_CHAT_MODELS, tokensPerDay: values.TOWPATH_CHAT_TOKENS_PER_DAY },
    environment,
  };
}
