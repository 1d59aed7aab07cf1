import { z } from "zod";
import type { MetricsAddress } from "./metrics/metrics-server.ts";
import { type OtlpSettings, parseOtlpEndpoint, parseOtlpHeaders } from "./tracing/otlp-settings.ts";

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

/** A role's port for metrics. */
export const metricsPort = z.coerce.number({ error: "must be a port" }).int().min(0).max(65_535).optional();

/** Settings of every process. */
export const telemetrySettings = {
  /** Where the ports for metrics listen. */
  TOWPATH_METRICS_HOST: z.string().min(1).default("127.0.0.1"),
  /** Base URL of an OpenTelemetry collector (OTLP/HTTP); empty: nothing is traced. */
  TOWPATH_OTLP_ENDPOINT: z.string().default("").transform(parsedBy(parseOtlpEndpoint)),
  /** `name=value` pairs, separated by commas, values percent-encoded. */
  TOWPATH_OTLP_HEADERS: z.string().default("").transform(parsedBy(parseOtlpHeaders)),
};

type Values = z.infer<z.ZodObject<typeof telemetrySettings>>;

/** The port, or without one a socket in the run directory. */
export const metricsAddressFrom = (
  { TOWPATH_METRICS_HOST: host }: Values,
  {
    role,
    port,
    runDirectory,
  }: { readonly role: string; readonly port: number | undefined; readonly runDirectory: string },
): MetricsAddress => (port === undefined ? { path: `${runDirectory}/${role}-metrics.sock` } : { host, port });

/** Null: nothing is traced. */
export function otlpFrom({ TOWPATH_OTLP_ENDPOINT: url, TOWPATH_OTLP_HEADERS: headers }: Values): OtlpSettings | null {
  return url && { url, headers };
}
