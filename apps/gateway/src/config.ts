import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
// From this file, as those of the runner's contract below.
import { bucketAddressPattern, bucketFrom, bucketServiceSettings } from "@towpath/artifacts/config";
import { operatorIssuerSchema } from "@towpath/auth/workloads/config";
import { externalNetworkSettings, networkList, networksSetting } from "@towpath/egress";
import { callLimitSettings, callLimitsFrom } from "@towpath/limits";
import { inheritedSocketSettings, listenAddressFrom, openFilesLimit, replacedLimits } from "@towpath/role";
// Imported from the settings files: loading the whole packages takes a second of CPU, which the primary would spend
// before it starts the workers, while nothing answers.
import { runnerAddressFrom, runnerSettings } from "@towpath/runner-api/settings";
import { rootSecretsFrom, secretSettings } from "@towpath/secrets/config";
import { metricsPort, otlpFrom, telemetrySettings } from "@towpath/telemetry/config";
import { z } from "zod";
import type { OpenLimits } from "./limits/limits.ts";
import type { CapacityLimits } from "./policy/capacity.ts";
import type { ConnectionLimits } from "./policy/connections.ts";
import { parseServerUrl } from "./route/server-address.ts";

const port = z.coerce.number().int().min(0).max(65535);
const count = z.coerce.number().int().min(1, "must be 1 or more");

/** Reports a parser's error as the setting's problem. */
function parsedBy<T>(parse: (value: string) => T) {
  return (value: string, context: z.RefinementCtx): T => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  };
}

/** The minimum per worker for one body of maximum size: a server may use half of what is free. */
const minBodyMiB = 8;

const environmentSchema = z.object({
  DATABASE_URL: z.string().min(1),
  DATABASE_DIRECT_URL: z.string().min(1).optional(),
  TOWPATH_DATA_DIR: z.string().startsWith("/", "must be an absolute path"),
  TOWPATH_RUN_DIR: z.string().startsWith("/", "must be an absolute path"),
  /** The dashboard, which is the authorization server of servers in towpath-cloud mode. */
  TOWPATH_URL: z
    .url({ protocol: /^https?$/, error: "must be an http or https URL" })
    .refine((url) => new URL(url).pathname === "/", "must be an origin without a path")
    .default("http://localhost:3000"),
  ...secretSettings,
  ...runnerSettings,
  TOWPATH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  TOWPATH_GATEWAY_HOST: z.string().min(1).default("127.0.0.1"),
  TOWPATH_GATEWAY_PORT: port.default(8080),
  ...inheritedSocketSettings,
  /** Where `/-/metrics` is served to anybody; else it is served at the servers' port, to this machine only. */
  TOWPATH_GATEWAY_METRICS_PORT: metricsPort,
  ...telemetrySettings,
  /** URL of a server with `{name}` in its host or as the first segment of its path. */
  TOWPATH_SERVER_URL: z.string().transform(parsedBy(parseServerUrl)),
  /** Longest time that a request waits for its server to start, milliseconds. */
  TOWPATH_GATEWAY_HOLD_MS: z.coerce.number().int().min(1).default(60_000),
  /** How long known callers and servers keep working while PostgreSQL or the runner is unavailable, milliseconds. */
  TOWPATH_GATEWAY_OUTAGE_MS: z.coerce.number().int().min(0).default(3_600_000),
  /** How long one that others have replaced goes on with requests, streams and tasks under way. */
  TOWPATH_GATEWAY_DRAIN_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400)
    .default(replacedLimits.requestsMs / 1000),
  /** Additional web origins that may call servers, comma-separated; checked on a loopback gateway only. */
  TOWPATH_GATEWAY_ORIGINS: z.string().default(""),
  /**
   * Addresses or networks of trusted reverse proxies: many clients share each, and its forwarding headers are trusted.
   */
  TOWPATH_GATEWAY_PROXIES: networksSetting.transform(networkList),
  ...externalNetworkSettings,
  /** Longest time until an external server begins its answer, milliseconds. */
  TOWPATH_EXTERNAL_TIMEOUT_MS: z.coerce.number().int().min(1).default(300_000),
  /** Each takes up to two open files: one for the client and one for its server. */
  TOWPATH_GATEWAY_MAX_CONNECTIONS: count.optional(),
  TOWPATH_GATEWAY_MAX_CONNECTIONS_PER_ADDRESS: count.optional(),
  TOWPATH_GATEWAY_MAX_IDLE_PER_ADDRESS: count.optional(),
  /** Per minute; a tenth of them may arrive at once. 0: no limit. */
  TOWPATH_GATEWAY_NEW_CONNECTIONS_PER_ADDRESS: z.coerce.number().int().min(0).default(6000),
  TOWPATH_GATEWAY_MAX_REQUESTS_PER_SERVER: count.optional(),
  TOWPATH_GATEWAY_MAX_REQUESTS_PER_CALLER: count.optional(),
  TOWPATH_GATEWAY_MAX_REQUESTS_PER_ORGANIZATION: count.optional(),
  ...callLimitSettings,
  /** MiB of results that are kept for one server, for clients that ask again. */
  TOWPATH_GATEWAY_KEPT_MIB: z.coerce.number().int().min(1).max(100_000).default(64),
  /** Where log rows also go that the database doesn't take, because this process's disk may go with it. */
  TOWPATH_GATEWAY_SPOOL_TO: z
    .string()
    .refine((text) => text === "" || bucketAddressPattern.test(text), "must be s3://BUCKET/PREFIX")
    .default(""),
  ...bucketServiceSettings,
  /** MiB of request bodies held at a time; one server may use at most half. */
  TOWPATH_GATEWAY_MAX_BODY_MIB: z.coerce.number().int().min(minBodyMiB, `must be ${minBodyMiB} or more`).default(256),
  /** Fraction of the traces that start at the gateway; a client's sampling decision takes precedence. */
  TOWPATH_OTLP_SAMPLE_RATIO: z.coerce.number().min(0).max(1).default(1),
  /** Processes that share the port, and the limits above. */
  TOWPATH_GATEWAY_WORKERS: count.max(64).optional(),
  /** Set by the gateway itself for its workers: their number, and the gateway's id. */
  TOWPATH_GATEWAY_WORKER: z.coerce.number().int().min(0).default(0),
  TOWPATH_GATEWAY_ID: z.string().min(1).optional(),
});

/** More workers by default would take memory and database connections that little traffic needs. */
const maxDefaultWorkers = 4;

/** Open files of a worker other than client and server connections: database, log, runner, Node itself. */
const otherFiles = 128;
const maxDefaultConnections = 10_000;

function workersOf(values: Pick<Settings, "TOWPATH_GATEWAY_WORKERS" | "TOWPATH_GATEWAY_MAX_BODY_MIB">): number {
  const fitting = Math.max(1, Math.floor(values.TOWPATH_GATEWAY_MAX_BODY_MIB / minBodyMiB));
  return values.TOWPATH_GATEWAY_WORKERS ?? Math.min(availableParallelism(), maxDefaultWorkers, fitting);
}

/** Time for the last log rows to get to the bucket when the gateway ends and the database doesn't take them. */
export const lastRowsMs = 20_000;

const bucketKeys = ["TOWPATH_ARTIFACTS_ACCESS_KEY_ID", "TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY"] as const;

function schemaFor(openFiles: number) {
  return bucketKeys
    .reduce(
      (schema, key) =>
        schema.refine((values) => values.TOWPATH_GATEWAY_SPOOL_TO === "" || Boolean(values[key]), {
          path: [key],
          message: "is missing, and TOWPATH_GATEWAY_SPOOL_TO names a bucket",
          when: () => true,
        }),
      environmentSchema,
    )
    .refine(
      (values) => {
        const { TOWPATH_GATEWAY_MAX_CONNECTIONS: connections = 0 } = values;
        return 2 * Math.ceil(connections / workersOf(values)) + otherFiles <= openFiles;
      },
      {
        path: ["TOWPATH_GATEWAY_MAX_CONNECTIONS"],
        message: `takes twice as many open files, and each worker may open ${openFiles}: raise that limit (ulimit -n) or lower this one`,
        // Reported together with the other problems, not after them.
        when: () => true,
      },
    )
    .refine((values) => values.TOWPATH_GATEWAY_MAX_BODY_MIB >= minBodyMiB * workersOf(values), {
      path: ["TOWPATH_GATEWAY_MAX_BODY_MIB"],
      message: `must be ${minBodyMiB} or more for each of TOWPATH_GATEWAY_WORKERS`,
    });
}

function connectionLimits(
  values: Settings,
  openFiles: number,
): { connections: ConnectionLimits; capacity: CapacityLimits; openLimits: OpenLimits } {
  const fitting = workersOf(values) * Math.floor((openFiles - otherFiles) / 2);
  const maxConnections =
    values.TOWPATH_GATEWAY_MAX_CONNECTIONS ?? Math.max(16, Math.min(fitting, maxDefaultConnections));
  const maxConnectionsPerAddress = values.TOWPATH_GATEWAY_MAX_CONNECTIONS_PER_ADDRESS ?? Math.ceil(maxConnections / 4);
  const newConnections = values.TOWPATH_GATEWAY_NEW_CONNECTIONS_PER_ADDRESS;
  return {
    connections: {
      maxConnections,
      maxConnectionsPerAddress,
      maxIdlePerAddress: values.TOWPATH_GATEWAY_MAX_IDLE_PER_ADDRESS ?? Math.ceil(maxConnectionsPerAddress / 2),
      newPerAddress: newConnections === 0 ? null : { perMinute: newConnections, burst: Math.ceil(newConnections / 10) },
      proxies: values.TOWPATH_GATEWAY_PROXIES,
    },
    capacity: {
      maxRequestsPerServer: values.TOWPATH_GATEWAY_MAX_REQUESTS_PER_SERVER ?? Math.ceil(maxConnections / 8),
      maxBodyBytes: values.TOWPATH_GATEWAY_MAX_BODY_MIB * 1024 * 1024,
    },
    openLimits: {
      caller: values.TOWPATH_GATEWAY_MAX_REQUESTS_PER_CALLER ?? Math.max(32, Math.ceil(maxConnections / 16)),
      organization: values.TOWPATH_GATEWAY_MAX_REQUESTS_PER_ORGANIZATION ?? Math.max(64, Math.ceil(maxConnections / 4)),
    },
  };
}

type Settings = z.infer<typeof environmentSchema>;

export type GatewayConfig = ReturnType<typeof readConfig>;

/**
 * Reads the gateway's settings from an environment.
 *
 * @throws Error whose message lists every problem at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env, openFiles: number = openFilesLimit()) {
  const result = schemaFor(openFiles).safeParse(environment);
  const operatorIssuer = operatorIssuerSchema().safeParse(environment);
  if (!result.success || !operatorIssuer.success) {
    const issues = [result, operatorIssuer].flatMap(({ error }) => error?.issues ?? []);
    const problems = issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`The gateway's settings are not valid:\n${problems.join("\n")}`);
  }
  const values = result.data;
  const otlp = otlpFrom(values);
  return {
    workers: workersOf(values),
    workerIndex: values.TOWPATH_GATEWAY_WORKER,
    /** This process's fraction of the gateway's limits: 1 / number of workers. */
    share: 1,
    /** The same in all workers of a gateway, and in no other gateway. */
    gatewayId: values.TOWPATH_GATEWAY_ID ?? randomUUID(),
    databaseUrl: values.DATABASE_URL,
    /** Direct connection without a pooler, for LISTEN. */
    directDatabaseUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL,
    /** Directory of the route snapshot and the log spool. */
    stateDirectory: `${values.TOWPATH_DATA_DIR}/gateway`,
    /** Null: log rows wait on this host only. */
    spoolBucket: values.TOWPATH_GATEWAY_SPOOL_TO === "" ? null : bucketFrom(values.TOWPATH_GATEWAY_SPOOL_TO, values),
    runner: runnerAddressFrom(values),
    secret: values.TOWPATH_SECRET,
    /** Origin of the dashboard: the issuer of tokens. */
    issuer: new URL(values.TOWPATH_URL).origin,
    /** The secret and its predecessors, with which data may still be encrypted. */
    secrets: rootSecretsFrom(values),
    logLevel: values.TOWPATH_LOG_LEVEL,
    host: values.TOWPATH_GATEWAY_HOST,
    port: values.TOWPATH_GATEWAY_PORT,
    listen: listenAddressFrom(values, { host: values.TOWPATH_GATEWAY_HOST, port: values.TOWPATH_GATEWAY_PORT }),
    metrics:
      values.TOWPATH_GATEWAY_METRICS_PORT === undefined
        ? null
        : { host: values.TOWPATH_METRICS_HOST, port: values.TOWPATH_GATEWAY_METRICS_PORT },
    serverAddress: values.TOWPATH_SERVER_URL,
    holdMs: values.TOWPATH_GATEWAY_HOLD_MS,
    outageMs: values.TOWPATH_GATEWAY_OUTAGE_MS,
    drainMs: 1000 * values.TOWPATH_GATEWAY_DRAIN_SECONDS,
    externalNetworks: values.TOWPATH_EXTERNAL_NETWORKS,
    /** Bytes of the results that are kept for one project. */
    keptBytes: values.TOWPATH_GATEWAY_KEPT_MIB * 1024 * 1024,
    /** Null: issuers are public, or in `externalNetworks`. */
    operatorIssuer: operatorIssuer.data,
    externalTimeoutMs: values.TOWPATH_EXTERNAL_TIMEOUT_MS,
    ...connectionLimits(values, openFiles),
    callLimits: callLimitsFrom(values),
    /** Null: calls are not traced. */
    otlp: otlp && { ...otlp, sampleRatio: values.TOWPATH_OTLP_SAMPLE_RATIO },
    allowedOrigins: values.TOWPATH_GATEWAY_ORIGINS.split(",")
      .map((origin) => origin.trim())
      .filter(Boolean),
  };
}

/** The settings of one worker: its share of the gateway's limits. */
export function configOfWorker(config: GatewayConfig): GatewayConfig {
  const share = 1 / config.workers;
  // Rounded down: the sum must not exceed the limit.
  const part = (limit: number) => Math.max(1, Math.floor(limit * share));
  const { connections, capacity, openLimits } = config;
  const { newPerAddress: rate } = connections;
  return {
    ...config,
    share,
    connections: {
      ...connections,
      maxConnections: part(connections.maxConnections),
      maxConnectionsPerAddress: part(connections.maxConnectionsPerAddress),
      maxIdlePerAddress: part(connections.maxIdlePerAddress),
      newPerAddress: rate && { perMinute: part(rate.perMinute), burst: part(rate.burst) },
    },
    capacity: {
      maxRequestsPerServer: part(capacity.maxRequestsPerServer),
      maxBodyBytes: part(capacity.maxBodyBytes),
    },
    openLimits: { caller: part(openLimits.caller), organization: part(openLimits.organization) },
  };
}
