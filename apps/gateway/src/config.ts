import { readFileSync } from "node:fs";
import type { RunnerAddress } from "@towpath/runner-api";
import { z } from "zod";
import type { CapacityLimits } from "./police/capacity.ts";
import { type ConnectionLimits, parseAddresses } from "./police/connections.ts";
import { parseServerUrl } from "./route/server-address.ts";

const port = z.coerce.number().int().min(0).max(65535);
const count = z.coerce.number().int().min(1, "must be 1 or more");

/** Takes a parser's error as the setting's problem. */
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

const environmentSchema = z.object({
  DATABASE_URL: z.string().min(1),
  DATABASE_DIRECT_URL: z.string().min(1).optional(),
  TOWPATH_DATA_DIR: z.string().startsWith("/", "must be an absolute path"),
  TOWPATH_RUN_DIR: z.string().startsWith("/", "must be an absolute path"),
  TOWPATH_SECRET: z.string().min(32, "must have at least 32 characters"),
  TOWPATH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  TOWPATH_GATEWAY_HOST: z.string().min(1).default("127.0.0.1"),
  TOWPATH_GATEWAY_PORT: port.default(8080),
  /** URL of a server with `{name}` in its host or as the first segment of its path. */
  TOWPATH_SERVER_URL: z.string().transform(parsedBy(parseServerUrl)),
  /** Longest time that a request waits for its server to start, milliseconds. */
  TOWPATH_GATEWAY_HOLD_MS: z.coerce.number().int().min(1).default(60_000),
  /** Further web origins that may call servers, separated by commas; only asked on a loopback gateway. */
  TOWPATH_GATEWAY_ORIGINS: z.string().default(""),
  /** Reverse proxies, addresses or networks: many clients are behind each, and what they say of them is believed. */
  TOWPATH_GATEWAY_PROXIES: z.string().default("").transform(parsedBy(parseAddresses)),
  /** Each takes up to two open files: one for the client and one for its server. */
  TOWPATH_GATEWAY_MAX_CONNECTIONS: count.optional(),
  TOWPATH_GATEWAY_MAX_CONNECTIONS_PER_ADDRESS: count.optional(),
  TOWPATH_GATEWAY_MAX_REQUESTS_PER_SERVER: count.optional(),
  /** MiB of request bodies that are held at a time; one server's at most half of it. */
  TOWPATH_GATEWAY_MAX_BODY_MIB: z.coerce.number().int().min(8, "must be 8 or more").default(256),
});

/** Open files that are not for connections of clients and servers: database, log, runner, Node itself. */
const otherFiles = 128;
const maxDefaultConnections = 10_000;

/** How many files this process may have open. Node raises its soft limit to the hard one at its start. */
function openFilesLimit(): number {
  try {
    const limit = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? 1024 : limit === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(limit);
  } catch {
    return 1024;
  }
}

function schemaFor(openFiles: number) {
  return environmentSchema.refine(
    ({ TOWPATH_GATEWAY_MAX_CONNECTIONS: wanted = 0 }) => 2 * wanted + otherFiles <= openFiles,
    {
      path: ["TOWPATH_GATEWAY_MAX_CONNECTIONS"],
      message: `takes twice as many open files, and ${openFiles} are allowed: raise that limit (ulimit -n) or lower this one`,
      // Told beside the other problems, not after them.
      when: () => true,
    },
  );
}

function connectionLimits(
  values: z.infer<typeof environmentSchema>,
  openFiles: number,
): { connections: ConnectionLimits; capacity: CapacityLimits } {
  const fitting = Math.floor((openFiles - otherFiles) / 2);
  const maxConnections =
    values.TOWPATH_GATEWAY_MAX_CONNECTIONS ?? Math.max(16, Math.min(fitting, maxDefaultConnections));
  return {
    connections: {
      maxConnections,
      maxConnectionsPerAddress: values.TOWPATH_GATEWAY_MAX_CONNECTIONS_PER_ADDRESS ?? Math.ceil(maxConnections / 4),
      proxies: values.TOWPATH_GATEWAY_PROXIES,
    },
    capacity: {
      maxRequestsPerServer: values.TOWPATH_GATEWAY_MAX_REQUESTS_PER_SERVER ?? Math.ceil(maxConnections / 8),
      maxBodyBytes: values.TOWPATH_GATEWAY_MAX_BODY_MIB * 1024 * 1024,
    },
  };
}

export type GatewayConfig = {
  databaseUrl: string;
  /** Past a pooler, for LISTEN. */
  directDatabaseUrl: string;
  /** Folder of the route snapshot and the log spool. */
  stateDirectory: string;
  runner: RunnerAddress;
  secret: string;
  logLevel: string;
  host: string;
  port: number;
  serverAddress: ReturnType<typeof parseServerUrl>;
  holdMs: number;
  allowedOrigins: string[];
  connections: ConnectionLimits;
  capacity: CapacityLimits;
};

/**
 * Reads the gateway's settings from an environment.
 *
 * @throws Error whose message lists every problem at once.
 */
export function readConfig(
  environment: NodeJS.ProcessEnv = process.env,
  openFiles: number = openFilesLimit(),
): GatewayConfig {
  const result = schemaFor(openFiles).safeParse(environment);
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`The gateway's settings are not valid:\n${problems.join("\n")}`);
  }
  const values = result.data;
  return {
    databaseUrl: values.DATABASE_URL,
    directDatabaseUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL,
    stateDirectory: `${values.TOWPATH_DATA_DIR}/gateway`,
    runner: { kind: "unix", path: `${values.TOWPATH_RUN_DIR}/runner.sock` },
    secret: values.TOWPATH_SECRET,
    logLevel: values.TOWPATH_LOG_LEVEL,
    host: values.TOWPATH_GATEWAY_HOST,
    port: values.TOWPATH_GATEWAY_PORT,
    serverAddress: values.TOWPATH_SERVER_URL,
    holdMs: values.TOWPATH_GATEWAY_HOLD_MS,
    ...connectionLimits(values, openFiles),
    allowedOrigins: values.TOWPATH_GATEWAY_ORIGINS.split(",")
      .map((origin) => origin.trim())
      .filter(Boolean),
  };
}
