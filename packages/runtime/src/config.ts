import { z } from "zod";
import { type SandboxSettings, sandboxSettings, sandboxSettingsFrom } from "./host/config.ts";
import { type KubernetesSettings, kubernetesSettings, kubernetesSettingsFrom } from "./kubernetes/config.ts";
import type { Limits } from "./port/execution.ts";

const mebibyte = 1024 * 1024;

/** Which driver runs servers and builds, and its settings; the same for each process that opens one (worker, runner). */
export const driverSettings = {
  TOWPATH_DRIVER: z.enum(["sandbox", "kubernetes"], "must be sandbox or kubernetes").default("sandbox"),
  ...sandboxSettings,
  ...kubernetesSettings,
};

export type DriverConfig =
  | ({ readonly kind: "sandbox" } & SandboxSettings)
  | ({ readonly kind: "kubernetes" } & KubernetesSettings);

/**
 * `environment`: all of the process, of which builds get the operator's index, proxy and certificate settings.
 *
 * @throws an Error that names the settings that the driver lacks
 */
export const driverConfigFrom = (
  values: z.output<z.ZodObject<typeof driverSettings>>,
  environment: Readonly<Record<string, string | undefined>>,
): DriverConfig =>
  values.TOWPATH_DRIVER === "kubernetes"
    ? { kind: "kubernetes", ...kubernetesSettingsFrom(values, environment) }
    : { kind: "sandbox", ...sandboxSettingsFrom(values, environment) };

/** Limits of one server, in its build's inspection (worker) and later (runner): what passes the first must run. */
export const serverLimitSettings = {
  /** From its start until it answers. */
  TOWPATH_START_TIMEOUT_MS: z.coerce.number().int().min(1).default(60_000),
  TOWPATH_SERVER_MEMORY_MIB: z.coerce.number().int().min(64).default(512),
  TOWPATH_SERVER_CPUS: z.coerce.number().min(0.05).default(1),
  TOWPATH_SERVER_PROCESSES: z.coerce.number().int().min(8).default(256),
  TOWPATH_SERVER_TMP_MIB: z.coerce.number().int().min(1).default(256),
};

export const serverLimitsFrom = (values: z.output<z.ZodObject<typeof serverLimitSettings>>): Limits => ({
  memoryBytes: values.TOWPATH_SERVER_MEMORY_MIB * mebibyte,
  cpus: values.TOWPATH_SERVER_CPUS,
  processes: values.TOWPATH_SERVER_PROCESSES,
  tmpBytes: values.TOWPATH_SERVER_TMP_MIB * mebibyte,
});
