import { artifactsConfigSchema } from "@towpath/artifacts";
import { parseOidcSettings } from "@towpath/auth/config";
import { operatorIssuerSchema } from "@towpath/auth/workloads/config";
import { chatSettings } from "@towpath/chat/config";
import {
  dnsSettings,
  externalNetworkSettings,
  isListed,
  isLoopbackAddress,
  networkList,
  networksSetting,
} from "@towpath/egress";
import { repositorySettings } from "@towpath/git";
import { optionalGitHubConfig } from "@towpath/github";
import { callLimitSettings, callLimitsFrom } from "@towpath/limits";
import { mailConfigSchema } from "@towpath/mail";
import { indexesOf, packageIndexSettings, serverRegistrySettings } from "@towpath/package-index";
import { inheritedSocketSettings, listenAddressFrom } from "@towpath/role";
import { type RunnerAddress, runnerAddressFrom, runnerSettings } from "@towpath/runner-api";
import { rootSecretsFrom, secretSettings } from "@towpath/secrets";
import type { MetricsAddress } from "@towpath/telemetry";
import { metricsAddressFrom, metricsPort, otlpFrom, telemetrySettings } from "@towpath/telemetry/config";
import { z } from "zod";
import { thirdPartiesFrom, thirdPartySettings } from "./third-parties.config.server.ts";

const origin = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL" })
  .transform((url) => url.replace(/\/+$/, ""))
  .refine((url) => new URL(url).pathname === "/", "must be an origin without a path");

const link = z.url({ protocol: /^https?$/, error: "must be an http or https URL" });
/** Up to a year. */
const hours = z.coerce.number({ error: "must be a number of hours" }).min(0.01, "must be above 0").max(8760);

/** Proxies whose X-Forwarded-For is trusted: on this machine, or if the operator names some, those and 127.0.0.1. */
function proxyCheck(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return isLoopbackAddress;
  const list = networkList([...networks, "127.0.0.1/32", "::1/128"]);
  return (address) => isListed(list, address);
}

const settings = z.object({
  DATABASE_URL: z.string({ error: "is missing" }).min(1, "is missing"),
  /** Bypasses a connection pooler, which does not support LISTEN. */
  DATABASE_DIRECT_URL: z.string().optional(),
  TOWPATH_DATA_DIR: z.string({ error: "is missing" }).min(1, "is missing"),
  /** Contains the runner's socket, unless TOWPATH_RUNNER_ADDRESS is set. Without both, no rollbacks. */
  TOWPATH_RUN_DIR: z.string().optional(),
  ...runnerSettings,
  ...secretSettings,
  ...callLimitSettings,
  ...chatSettings,
  ...packageIndexSettings,
  ...serverRegistrySettings,
  ...repositorySettings,
  ...telemetrySettings,
  /** Where `/-/metrics` is served; default: a socket in the run directory. */
  TOWPATH_WEB_METRICS_PORT: metricsPort,
  /** The operator's token; the one in the data directory's `operator-token` works, too. */
  TOWPATH_OPERATOR_TOKEN: z
    .string()
    .regex(/^\S{32,}$/, "must have 32 characters or more, and no space")
    .optional(),
  TOWPATH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** The instance's environment, which determines its base URL (OPS-5). */
  TOWPATH_ENVIRONMENT: z
    .enum(["local", "preview", "production"], { error: "must be local, preview or production" })
    .default("local"),
  TOWPATH_URL: origin.optional(),
  ...thirdPartySettings,
  /** Where the public site's star count and Docs lead, Docs to this instance's own pages unless it is set. */
  TOWPATH_STAR_URL: link.default("https://github.com/jlowin/fastmcp"),
  TOWPATH_DOCS_URL: link.optional(),
  /** Where the files of the documentation can be edited, in front of their path in the repository. */
  TOWPATH_DOCS_EDIT_URL: link.transform((url) => url.replace(/\/+$/, "")).optional(),
  TOWPATH_HOST: z.string().default("127.0.0.1"),
  TOWPATH_PORT: z.coerce.number({ error: "must be a port" }).int().min(0).max(65_535).default(3000),
  ...inheritedSocketSettings,
  /** Reverse proxies and gateways on other hosts, which are trusted to forward their clients' addresses. */
  TOWPATH_PROXIES: networksSetting.transform(proxyCheck),
  /** A session ends so long after its last request, and so long after the sign-in. */
  TOWPATH_SESSION_IDLE_HOURS: hours.default(168),
  TOWPATH_SESSION_MAX_HOURS: hours.default(720),
  /** Whether OAuth clients may publish their metadata on this machine, by http. */
  TOWPATH_LOCAL_OAUTH_CLIENTS: z.enum(["yes", "no"], { error: "must be yes or no" }).default("no"),
  ...externalNetworkSettings,
  ...dnsSettings,
  /** Maximum size of a push to a repository of this instance. */
  TOWPATH_MAX_PUSH_MB: z.coerce
    .number({ error: "must be a number of megabytes" })
    .int()
    .min(1)
    .max(100_000)
    .default(2048),
  TOWPATH_SERVER_URL: z
    .string({ error: "is missing" })
    .refine((template) => template.includes("{name}"), "must contain {name}")
    .refine((template) => URL.canParse(template.replace("{name}", "name")), "must be a URL"),
});

/** On a person's own machine (OPS-5). */
const localUrl = "http://localhost:3000";

function runnerOf({ TOWPATH_RUN_DIR = "", ...values }: z.infer<typeof settings>): RunnerAddress | null {
  const isKnown = TOWPATH_RUN_DIR !== "" || values.TOWPATH_RUNNER_ADDRESS !== undefined;
  return isKnown ? runnerAddressFrom({ ...values, TOWPATH_RUN_DIR }) : null;
}

/** Null: without a run directory, only a port serves metrics. */
function metricsOf(values: z.infer<typeof settings>): MetricsAddress | null {
  const { TOWPATH_WEB_METRICS_PORT: port, TOWPATH_RUN_DIR: runDirectory = "" } = values;
  if (port === undefined && runDirectory === "") return null;
  return metricsAddressFrom(values, { role: "web", port, runDirectory });
}

export type WebConfig = ReturnType<typeof readWebConfig>;

/** Its message lists every invalid setting for the operator, one per line. */
export class SettingsError extends Error {
  constructor(problems: readonly string[]) {
    super(`These settings need attention:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "SettingsError";
  }
}

/**
 * The settings of the web process. The OIDC settings must be set together or not at all; so must those of GitHub.
 *
 * @throws SettingsError that lists all problems.
 */
export function readWebConfig(environment: Readonly<Record<string, string | undefined>> = process.env) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const main = settings.safeParse(given);
  const signIn = parseOidcSettings(given);
  const gitHub = optionalGitHubConfig.safeParse(given);
  const mail = mailConfigSchema.safeParse(given);
  const artifacts = artifactsConfigSchema.safeParse(given);
  const operatorIssuer = operatorIssuerSchema().safeParse(given);
  const isAddressed = given.TOWPATH_URL !== undefined || (main.data?.TOWPATH_ENVIRONMENT ?? "local") === "local";
  if (
    !isAddressed ||
    !main.success ||
    !mail.success ||
    signIn?.success === false ||
    !gitHub.success ||
    !artifacts.success ||
    !operatorIssuer.success
  ) {
    const issues = [main, mail, signIn, gitHub, artifacts, operatorIssuer].flatMap(
      (parsed) => parsed?.error?.issues ?? [],
    );
    const problems = issues.map((issue) => `${issue.path.join(".")} ${issue.message}`);
    throw new SettingsError(
      isAddressed ? problems : [...problems, "TOWPATH_URL is missing: only a local instance has a default"],
    );
  }
  const values = main.data;
  return {
    databaseUrl: values.DATABASE_URL,
    directDatabaseUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL,
    dataDirectory: values.TOWPATH_DATA_DIR,
    artifacts: artifacts.data,
    repositories: values.TOWPATH_REPOSITORIES,
    /** Null if its address isn't set. */
    runner: runnerOf(values),
    /** Null: only the token in the data directory. */
    operatorToken: values.TOWPATH_OPERATOR_TOKEN ?? null,
    secret: values.TOWPATH_SECRET,
    secrets: rootSecretsFrom(values),
    logLevel: values.TOWPATH_LOG_LEVEL,
    metrics: metricsOf(values),
    /** Null: nothing is traced. */
    otlp: otlpFrom(values),
    baseUrl: values.TOWPATH_URL ?? localUrl,
    starUrl: values.TOWPATH_STAR_URL,
    docsUrl: values.TOWPATH_DOCS_URL ?? "/docs",
    docsEditUrl: values.TOWPATH_DOCS_EDIT_URL ?? null,
    host: values.TOWPATH_HOST,
    port: values.TOWPATH_PORT,
    listen: listenAddressFrom(values, { host: values.TOWPATH_HOST, port: values.TOWPATH_PORT }),
    isProxy: values.TOWPATH_PROXIES,
    serverUrlTemplate: values.TOWPATH_SERVER_URL,
    /** Limits of the gateways: shown to people, and the maximum of each project. */
    callLimits: callLimitsFrom(values),
    chat: {
      models: values.TOWPATH_CHAT_MODELS,
      limits: {
        questionsPerHour: values.TOWPATH_CHAT_QUESTIONS_PER_HOUR,
        tokensPerDay: values.TOWPATH_CHAT_TOKENS_PER_DAY,
      },
    },
    externalNetworks: values.TOWPATH_EXTERNAL_NETWORKS,
    /** Null: issuers of workloads' tokens are public, or in these networks. */
    operatorIssuer: operatorIssuer.data,
    /** Where DNS records of servers' domains are looked up; empty: where the host looks names up. */
    dnsServers: values.TOWPATH_DNS_SERVERS,
    maxPushBytes: values.TOWPATH_MAX_PUSH_MB * 1024 * 1024,
    sessions: {
      idleSeconds: Math.round(values.TOWPATH_SESSION_IDLE_HOURS * 3600),
      maxSeconds: Math.round(values.TOWPATH_SESSION_MAX_HOURS * 3600),
    },
    /** Whether signing out ends the issuer's session too. */
    endIssuerSession: signIn?.data?.TOWPATH_OIDC_SIGN_OUT === "issuer",
    localOAuthClients: values.TOWPATH_LOCAL_OAUTH_CLIENTS === "yes",
    oidc: signIn?.data
      ? {
          issuer: signIn.data.TOWPATH_OIDC_ISSUER,
          clientId: signIn.data.TOWPATH_OIDC_CLIENT_ID,
          clientSecret: signIn.data.TOWPATH_OIDC_CLIENT_SECRET,
        }
      : null,
    /** The App that the environment names. */
    gitHub: gitHub.data,
    packageIndexes: indexesOf(given),
    registryUrl: values.TOWPATH_REGISTRY_URL,
    thirdParties: thirdPartiesFrom(values),
    /** Whether there is a mail server: the worker connects to it. */
    sendsMail: mail.data !== null,
  };
}
