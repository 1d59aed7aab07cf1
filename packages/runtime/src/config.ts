import { z } from "zod";
import type { PythonDownloads } from "./python/bring-python.ts";
import { pathWithPyenv } from "./python/pyenv.ts";

/** Only "yes" allows; anything but "no" is an error at start. */
const namedYes = z
  .enum(["yes", "no", ""], "must be yes or no")
  .optional()
  .transform((value) => value === "yes");

const addressRange = z.string().regex(/^\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?$/, "must be IPv4 ranges such as 10.1.0.0/16");

/** Settings of the sandbox driver, for each process that creates one (worker, runner). */
export const sandboxSettings = {
  /** `yes`: run servers and builds even if they can't be isolated. Only for code that you trust. */
  TOWPATH_ALLOW_UNSANDBOXED: namedYes,
  /** `yes`: run servers and builds even if this host can't enforce their limits as a whole. */
  TOWPATH_ALLOW_WEAK_LIMITS: namedYes,
  /** `yes`: if a sandbox can't have its own network, it may use the host's, including loopback. */
  TOWPATH_ALLOW_HOST_NETWORK: namedYes,
  /** Private address ranges that sandboxes may reach, comma-separated; for example of your own package index. */
  TOWPATH_NETWORK_ALLOW: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((range) => range.trim()))
    .transform((ranges) => ranges.filter((range) => range !== ""))
    .pipe(z.array(addressRange)),
};

/** How the operator relaxes the isolation. */
export type IsolationConfig = {
  readonly allowUnsandboxed: boolean;
  readonly allowWeakLimits: boolean;
  readonly allowHostNetwork: boolean;
  /** Private address ranges that stay reachable. */
  readonly allowedRanges: readonly string[];
};

/** The part of a process's parsed settings that createSandboxDriver takes. */
export function isolationConfigFrom(values: z.output<z.ZodObject<typeof sandboxSettings>>): IsolationConfig {
  return {
    allowUnsandboxed: values.TOWPATH_ALLOW_UNSANDBOXED,
    allowWeakLimits: values.TOWPATH_ALLOW_WEAK_LIMITS,
    allowHostNetwork: values.TOWPATH_ALLOW_HOST_NETWORK,
    allowedRanges: values.TOWPATH_NETWORK_ALLOW,
  };
}

/** The default: nothing is relaxed. */
export const strictIsolation: IsolationConfig = {
  allowUnsandboxed: false,
  allowWeakLimits: false,
  allowHostNetwork: false,
  allowedRanges: [],
};

/** Where Pythons that this host lacks come from (worker and runner). */
export const pythonSettings = {
  /** `no`: only Pythons of the host are used. */
  TOWPATH_PYTHON_DOWNLOADS: z
    .enum(["yes", "no", ""], "must be yes or no")
    .optional()
    .transform((value) => value !== "no"),
  TOWPATH_PYTHON_MIRROR: z.url({ protocol: /^(https?|file)$/, error: "must be an http, https or file URL" }).optional(),
  TOWPATH_PYTHON_LIST: z.url({ protocol: /^(https?|file)$/, error: "must be an http, https or file URL" }).optional(),
};

/** `downloads` of the driver; empty when the operator switched them off. They are kept in the data directory. */
export function pythonDownloadsFrom(
  values: z.output<z.ZodObject<typeof pythonSettings>>,
  dataDirectory: string,
): { readonly downloads?: PythonDownloads } {
  if (!values.TOWPATH_PYTHON_DOWNLOADS) return {};
  const { TOWPATH_PYTHON_MIRROR: mirror = null, TOWPATH_PYTHON_LIST: list = null } = values;
  return { downloads: { directory: `${dataDirectory}/pythons`, mirror, list } };
}

/** For servers whose owners keep `/data` (runner). */
export const dataSettings = {
  /** What each one may keep. The smallest file system with a journal has some megabytes. */
  TOWPATH_SERVER_DATA_MIB: z.coerce.number().int().min(16).default(1024),
};

/** Limits of one server, in its build's inspection (worker) and later (runner): what passes the first must run. */
export const serverLimitSettings = {
  /** From its start until it answers. */
  TOWPATH_START_TIMEOUT_MS: z.coerce.number().int().min(1).default(60_000),
  TOWPATH_SERVER_MEMORY_MIB: z.coerce.number().int().min(64).default(512),
  TOWPATH_SERVER_CPUS: z.coerce.number().min(0.05).default(1),
  TOWPATH_SERVER_PROCESSES: z.coerce.number().int().min(8).default(256),
  TOWPATH_SERVER_TMP_MIB: z.coerce.number().int().min(1).default(256),
};

/** The variables that finding and downloading a Python depends on: uv's settings, search paths and proxies. */
export function interpreterEnvironment(): Record<string, string> {
  const names = /^(PATH|HOME|LANG|XDG_.*|UV_.*|PYENV_.*|SSL_CERT_.*|(HTTPS?|ALL|NO)_PROXY|(https?|all|no)_proxy)$/;
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && names.test(name) ? [[name, value] as const] : [],
  );
  return { ...Object.fromEntries(kept), PATH: pathWithPyenv(process.env) };
}
