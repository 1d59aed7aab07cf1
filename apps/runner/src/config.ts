import { type ArtifactsConfig, artifactsConfigSchema } from "@towpath/artifacts";
import { type RunnerAddress, runnerListenAddressFrom, runnerListenSettings } from "@towpath/runner-api";
import {
  type DriverConfig,
  driverConfigFrom,
  driverSettings,
  type Limits,
  serverLimitSettings,
  serverLimitsFrom,
} from "@towpath/runtime";
import { type RootSecrets, rootSecretsFrom, secretSettings } from "@towpath/secrets";
import type { MetricsAddress, OtlpSettings } from "@towpath/telemetry";
import { metricsAddressFrom, metricsPort, otlpFrom, telemetrySettings } from "@towpath/telemetry/config";
import { z } from "zod";
import type { BudgetSettings } from "./places/places.ts";

const mebibyte = 1024 * 1024;
/** More than most servers use after their start. */
const typicalServerBytes = 128 * mebibyte;

const milliseconds = (defaultMs: number, minMs = 1) => z.coerce.number().int().min(minMs).default(defaultMs);

const environmentSchema = z.object({
  DATABASE_URL: z.string().min(1),
  ...driverSettings,
  ...secretSettings,
  TOWPATH_SERVER_URL: z.string().includes("{name}", { message: "must contain {name}" }),
  TOWPATH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  TOWPATH_LEASE_MS: milliseconds(10_000, 500),
  TOWPATH_FREEZE_AFTER_MS: milliseconds(30_000),
  TOWPATH_STOP_AFTER_MS: milliseconds(15 * 60_000),
  /** Servers end unless a runner takes them over within this time after theirs has ended. */
  TOWPATH_ADOPT_WITHIN_MS: milliseconds(3_600_000),
  /** Memory that all servers together may use. Default: 3/4 of the host's. */
  TOWPATH_MEMORY_MIB: z.coerce.number().int().min(64).optional(),
  /** Part of it that prewarmed interpreters may use while servers don't need it; 0: none are prewarmed. */
  TOWPATH_PREWARM_SHARE: z.coerce.number().min(0).max(1).default(0.1),
  /** How long they wait for a server after its last use. */
  TOWPATH_PREWARM_FOR_MS: milliseconds(3_600_000),
  /** Servers at the same time, including frozen ones, regardless of their memory. */
  TOWPATH_MAX_INSTANCES: z.coerce.number().int().min(1).default(1000),
  /** Servers that start at the same time. Default: twice the processors, at least 4. */
  TOWPATH_MAX_STARTING: z.coerce.number().int().min(1).optional(),
  /** Share of these that one organization may have, 0 to 1, if several organizations use the host. */
  TOWPATH_MAX_ORGANIZATION_SHARE: z.coerce.number().gt(0).max(1).default(0.75),
  /** The gateway's setting: how long it holds a request while the server starts. */
  TOWPATH_GATEWAY_HOLD_MS: milliseconds(60_000),
  ...runnerListenSettings,
  ...serverLimitSettings,
  ...telemetrySettings,
  /** Where `/-/metrics` is served; default: a socket in the run directory. */
  TOWPATH_RUNNER_METRICS_PORT: metricsPort,
});

export type RunnerConfig = {
  readonly databaseUrl: string;
  readonly dataDirectory: string;
  readonly artifacts: ArtifactsConfig;
  readonly runDirectory: string;
  /** Where its API listens. */
  readonly address: RunnerAddress;
  /** The keys of stored secrets are derived from these. */
  readonly secrets: RootSecrets;
  readonly serverUrl: string;
  readonly logLevel: string;
  readonly metrics: MetricsAddress;
  /** Null: nothing is traced. */
  readonly otlp: OtlpSettings | null;
  /** What runs the servers. */
  readonly driver: DriverConfig;
  readonly timing: InstanceTiming;
  /** How long servers outlive their runner, milliseconds. */
  readonly adoptWithinMs: number;
  readonly budget: BudgetSettings;
  /** Share of the budget's memory, 0 to 1. */
  readonly prewarmShare: number;
  readonly prewarmForMs: number;
  /** How long a start waits for a place. */
  readonly placeWaitMs: number;
  readonly limits: Limits;
};

/** All in milliseconds. */
export type InstanceTiming = {
  /** Duration of a lease. */
  readonly leaseMs: number;
  /** Duration of a lease while a start waits for a place. */
  readonly contendedLeaseMs: number;
  /** A server without a lease for this long is frozen. */
  readonly freezeAfterMs: number;
  /** A server without a lease for this long is stopped. */
  readonly stopAfterMs: number;
  /** The same for a server without a route and without an open session. */
  readonly unneededAfterMs: number;
  readonly startTimeoutMs: number;
  /** For a started server's answer at /mcp, when a rollout verifies it. */
  readonly answerTimeoutMs: number;
  /** From SIGTERM to SIGKILL: more than the harness's own limit (7 s). */
  readonly stopGraceMs: number;
  /** The same when the runner shuts down, or another server needs the place. */
  readonly hurriedGraceMs: number;
  /** The wait after the first crash; doubles with each further one. */
  readonly firstBackOffMs: number;
  readonly maxBackOffMs: number;
  /** After running this long, the next crash counts as the first. */
  readonly healthyAfterMs: number;
};

/** Reads the runner's settings. Throws an Error whose message lists every problem at once. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): RunnerConfig {
  const result = environmentSchema.safeParse(environment);
  const artifacts = artifactsConfigSchema.safeParse(environment);
  if (!result.success || !artifacts.success) {
    const issues = [result, artifacts].flatMap((parsed) => parsed.error?.issues ?? []);
    const problems = issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`The runner's settings are not valid:\n${problems.join("\n")}`);
  }
  const values = result.data;
  const limits = serverLimitsFrom(values);
  const { TOWPATH_MEMORY_MIB: memoryMiB } = values;
  return {
    databaseUrl: values.DATABASE_URL,
    dataDirectory: values.TOWPATH_DATA_DIR,
    artifacts: artifacts.data,
    runDirectory: values.TOWPATH_RUN_DIR,
    address: runnerListenAddressFrom(values),
    secrets: rootSecretsFrom(values),
    serverUrl: values.TOWPATH_SERVER_URL,
    logLevel: values.TOWPATH_LOG_LEVEL,
    metrics: metricsAddressFrom(values, {
      role: "runner",
      port: values.TOWPATH_RUNNER_METRICS_PORT,
      runDirectory: values.TOWPATH_RUN_DIR,
    }),
    otlp: otlpFrom(values),
    driver: driverConfigFrom(values, environment),
    timing: {
      leaseMs: values.TOWPATH_LEASE_MS,
      contendedLeaseMs: 2500,
      freezeAfterMs: values.TOWPATH_FREEZE_AFTER_MS,
      stopAfterMs: values.TOWPATH_STOP_AFTER_MS,
      unneededAfterMs: 15_000,
      startTimeoutMs: values.TOWPATH_START_TIMEOUT_MS,
      answerTimeoutMs: 10_000,
      stopGraceMs: 8000,
      hurriedGraceMs: 3000,
      firstBackOffMs: 1000,
      maxBackOffMs: 60_000,
      healthyAfterMs: 60_000,
    },
    adoptWithinMs: values.TOWPATH_ADOPT_WITHIN_MS,
    budget: {
      maxInstances: values.TOWPATH_MAX_INSTANCES,
      maxStarting: values.TOWPATH_MAX_STARTING ?? null,
      memoryBytes: memoryMiB === undefined ? null : memoryMiB * mebibyte,
      startReserveBytes: Math.min(limits.memoryBytes, typicalServerBytes),
      maxShare: values.TOWPATH_MAX_ORGANIZATION_SHARE,
    },
    prewarmShare: values.TOWPATH_PREWARM_SHARE,
    prewarmForMs: values.TOWPATH_PREWARM_FOR_MS,
    // The runner's answer, which names the shortage, must arrive before the gateway's own.
    placeWaitMs: Math.max(values.TOWPATH_GATEWAY_HOLD_MS / 2, values.TOWPATH_GATEWAY_HOLD_MS - 3000),
    limits,
  };
}
