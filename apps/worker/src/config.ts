import { availableParallelism } from "node:os";
import { type ArtifactsConfig, artifactsConfigSchema } from "@towpath/artifacts";
import { type BuilderConfig, defaultBuildLimits } from "@towpath/builder";
import { parseNetworks } from "@towpath/egress";
import { type RepositoriesKind, repositorySettings } from "@towpath/git";
import { type GitHubConfig, optionalGitHubConfig } from "@towpath/github";
import { type MailConfig, mailConfigSchema } from "@towpath/mail";
import { type IndexAddress, indexesOf, packageIndexSettings } from "@towpath/package-index";
import { type RunnerAddress, runnerAddressFrom, runnerSettings } from "@towpath/runner-api";
import {
  type IsolationConfig,
  isolationConfigFrom,
  type PythonDownloads,
  pickBuildEnvironment,
  pythonDownloadsFrom,
  pythonSettings,
  sandboxSettings,
  serverLimitSettings,
} from "@towpath/runtime";
import { type RootSecrets, rootSecretsFrom, secretSettings } from "@towpath/secrets";
import { z } from "zod";
import type { BuildConcurrency } from "./jobs/jobs.ts";
import { type RetentionConfig, retentionConfigFrom, retentionSettings } from "./retention/config.ts";

const mebibyte = 1024 * 1024;
const absolutePath = z.string().startsWith("/", "must be an absolute path");

function networksFrom(text: string, context: z.RefinementCtx): string[] {
  try {
    return parseNetworks(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
}

const environmentSchema = z.object({
  DATABASE_URL: z.string().min(1),
  DATABASE_DIRECT_URL: z.string().min(1).optional(),
  TOWPATH_DATA_DIR: absolutePath,
  TOWPATH_RUN_DIR: absolutePath,
  ...secretSettings,
  /** The dashboard. */
  TOWPATH_URL: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).default("http://localhost:3000"),
  TOWPATH_SERVER_URL: z.string().includes("{name}", { message: "must contain {name}" }),
  TOWPATH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** Private networks in which external servers and Git repositories may be, as CIDR, separated by commas; else only public addresses. */
  TOWPATH_EXTERNAL_NETWORKS: z.string().default("").transform(networksFrom),
  TOWPATH_UV: z.string().default("uv"),
  TOWPATH_PYTHON: z.string().optional(),
  /** Builds at the same time in this process. Default: one more than there are processors, at least 3. */
  TOWPATH_BUILD_CONCURRENCY: z.coerce.number().int().min(1).max(32).optional(),
  ...packageIndexSettings,
  ...repositorySettings,
  ...runnerSettings,
  ...retentionSettings,
  ...pythonSettings,
  ...sandboxSettings,
  ...serverLimitSettings,
});

export type WorkerConfig = {
  readonly databaseUrl: string;
  /** Past a pooler, for LISTEN. */
  readonly directDatabaseUrl: string;
  readonly runDirectory: string;
  readonly runner: RunnerAddress;
  /** From which the keys of stored secrets are derived. */
  readonly secrets: RootSecrets;
  readonly serverUrl: string;
  /** Origin of the dashboard. */
  readonly dashboardUrl: string;
  readonly logLevel: string;
  readonly builds: BuildConcurrency;
  readonly isolation: IsolationConfig;
  readonly uv: string;
  /** Absent: only Pythons of this host are used. */
  readonly downloads?: PythonDownloads;
  /** Settings for uv that every build gets. */
  readonly buildEnvironment: Readonly<Record<string, string>>;
  /** Where packages are looked up: the indexes that builds install from. */
  readonly packageIndexes: readonly IndexAddress[];
  /** Besides public addresses, where external servers and Git repositories may be. */
  readonly externalNetworks: readonly string[];
  readonly builder: BuilderConfig;
  readonly artifacts: ArtifactsConfig;
  /** Where repositories of this instance are stored. */
  readonly repositories: RepositoriesKind;
  /** The App that the environment names; null: none, only those that were connected in the dashboard. */
  readonly github: GitHubConfig | null;
  readonly retention: RetentionConfig;
  /** Null: this instance sends no mail. */
  readonly mail: MailConfig | null;
};

/** Reads the worker's settings. Throws an Error whose message lists every problem at once. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): WorkerConfig {
  const result = environmentSchema.safeParse(environment);
  const mail = mailConfigSchema.safeParse(environment);
  const github = optionalGitHubConfig.safeParse(environment);
  const artifacts = artifactsConfigSchema.safeParse(environment);
  if (!result.success || !mail.success || !github.success || !artifacts.success) {
    const issues = [result, mail, github, artifacts].flatMap((parsed) => parsed.error?.issues ?? []);
    const problems = issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`The worker's settings are not valid:\n${problems.join("\n")}`);
  }
  const values = result.data;
  const maxBuilds = values.TOWPATH_BUILD_CONCURRENCY ?? Math.max(3, availableParallelism() + 1);
  return {
    databaseUrl: values.DATABASE_URL,
    directDatabaseUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL,
    runDirectory: values.TOWPATH_RUN_DIR,
    runner: runnerAddressFrom(values),
    secrets: rootSecretsFrom(values),
    serverUrl: values.TOWPATH_SERVER_URL,
    dashboardUrl: new URL(values.TOWPATH_URL).origin,
    logLevel: values.TOWPATH_LOG_LEVEL,
    builds: { maxBuilds, maxBuildsPerOrganization: Math.max(1, maxBuilds - 1) },
    isolation: isolationConfigFrom(values),
    uv: values.TOWPATH_UV,
    ...pythonDownloadsFrom(values, values.TOWPATH_DATA_DIR),
    buildEnvironment: pickBuildEnvironment(environment),
    packageIndexes: indexesOf(environment),
    externalNetworks: values.TOWPATH_EXTERNAL_NETWORKS,
    builder: {
      dataDirectory: values.TOWPATH_DATA_DIR,
      defaultPython: values.TOWPATH_PYTHON ?? null,
      limits: {
        ...defaultBuildLimits,
        startMs: values.TOWPATH_START_TIMEOUT_MS,
        server: {
          memoryBytes: values.TOWPATH_SERVER_MEMORY_MIB * mebibyte,
          cpus: values.TOWPATH_SERVER_CPUS,
          processes: values.TOWPATH_SERVER_PROCESSES,
          tmpBytes: values.TOWPATH_SERVER_TMP_MIB * mebibyte,
        },
      },
    },
    artifacts: artifacts.data,
    repositories: values.TOWPATH_REPOSITORIES,
    github: github.data,
    retention: retentionConfigFrom(values),
    mail: mail.data,
  };
}
