import { z } from "zod";
import { parseServerUrl } from "./route/server-address.ts";

const port = z.coerce.number().int().min(0).max(65535);

const environmentSchema = z.object({
  DATABASE_URL: z.string().min(1),
  TOWPATH_DATA_DIR: z.string().startsWith("/", "must be an absolute path"),
  TOWPATH_RUN_DIR: z.string().startsWith("/", "must be an absolute path"),
  TOWPATH_SECRET: z.string().min(32, "must have at least 32 characters"),
  TOWPATH_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  TOWPATH_GATEWAY_HOST: z.string().min(1).default("127.0.0.1"),
  TOWPATH_GATEWAY_PORT: port.default(8080),
  /** URL of a server with `{name}` in its host or as the first segment of its path. */
  TOWPATH_SERVER_URL: z.string().transform((value, context) => {
    try {
      return parseServerUrl(value);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  }),
  /** Longest time that a request waits for its server to start, milliseconds. */
  TOWPATH_GATEWAY_HOLD_MS: z.coerce.number().int().min(1).default(60_000),
  /** Further web origins that may call servers, separated by commas; only asked on a loopback gateway. */
  TOWPATH_GATEWAY_ORIGINS: z.string().default(""),
});

export type GatewayConfig = {
  databaseUrl: string;
  /** Folder of the route snapshot and the log spool. */
  stateDirectory: string;
  runnerSocket: string;
  secret: string;
  logLevel: string;
  host: string;
  port: number;
  serverAddress: ReturnType<typeof parseServerUrl>;
  holdMs: number;
  allowedOrigins: string[];
};

/**
 * Reads the gateway's settings from an environment.
 *
 * @throws Error whose message lists every problem at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): GatewayConfig {
  const result = environmentSchema.safeParse(environment);
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`The gateway's settings are not valid:\n${problems.join("\n")}`);
  }
  const values = result.data;
  return {
    databaseUrl: values.DATABASE_URL,
    stateDirectory: `${values.TOWPATH_DATA_DIR}/gateway`,
    runnerSocket: `${values.TOWPATH_RUN_DIR}/runner.sock`,
    secret: values.TOWPATH_SECRET,
    logLevel: values.TOWPATH_LOG_LEVEL,
    host: values.TOWPATH_GATEWAY_HOST,
    port: values.TOWPATH_GATEWAY_PORT,
    serverAddress: values.TOWPATH_SERVER_URL,
    holdMs: values.TOWPATH_GATEWAY_HOLD_MS,
    allowedOrigins: values.TOWPATH_GATEWAY_ORIGINS.split(",")
      .map((origin) => origin.trim())
      .filter(Boolean),
  };
}
