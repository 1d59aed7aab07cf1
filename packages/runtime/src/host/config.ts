import { existsSync } from "node:fs";
import { z } from "zod";
import type { PythonDownloads } from "./python/bring-python.ts";
import { pathWithPyenv } from "./python/pyenv.ts";

const mebibyte = 1024 * 1024;
/** A unix socket's path has at most 107 bytes, and ends in `/i/<12 hex>/shared/mcp.sock` below the run directory. */
const maxRunDirectoryBytes = 70;
const absolutePath = z.string().startsWith("/", "must be an absolute path");

/** Only "yes" allows; anything but "no" is an error at start. */
const namedYes = z
  .enum(["yes", "no", ""], "must be yes or no")
  .optional()
  .transform((value) => value === "yes");

const addressRange = z.string().regex(/^\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?$/, "must be IPv4 ranges such as 10.1.0.0/16");

/** Settings of the sandbox driver. */
export const sandboxSettings = {
  TOWPATH_DATA_DIR: absolutePath,
  TOWPATH_RUN_DIR: absolutePath.refine((path) => Buffer.byteLength(path) <= maxRunDirectoryBytes, {
    message: `must have at most ${maxRunDirectoryBytes} bytes, because unix sockets are made below it`,
  }),
  TOWPATH_UV: z.string().default("uv"),
  /** `no`: only Pythons of the host are used. */
  TOWPATH_PYTHON_DOWNLOADS: z
    .enum(["yes", "no", ""], "must be yes or no")
    .optional()
    .transform((value) => value !== "no"),
  TOWPATH_PYTHON_MIRROR: z.url({ protocol: /^(https?|file)$/, error: "must be an http, https or file URL" }).optional(),
  TOWPATH_PYTHON_LIST: z.url({ protocol: /^(https?|file)$/, error: "must be an http, https or file URL" }).optional(),
  /** Size of a server's `/data`. The smallest file system with a journal has some megabytes. */
  TOWPATH_SERVER_DATA_MIB: z.coerce.number().int().min(16).default(1024),
  /** `gvisor`: servers and builds get a kernel of their own, within bubblewrap. */
  TOWPATH_ISOLATION: z.enum(["bubblewrap", "gvisor"], "must be bubblewrap or gvisor").default("bubblewrap"),
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

/** How the operator chooses the isolation and relaxes it. */
export type IsolationConfig = {
  /** Whose kernel serves the system calls of servers and builds. */
  readonly kernel: "host" | "gvisor";
  readonly allowUnsandboxed: boolean;
  readonly allowWeakLimits: boolean;
  readonly allowHostNetwork: boolean;
  /** Private address ranges that stay reachable. */
  readonly allowedRanges: readonly string[];
};

export type SandboxSettings = ReturnType<typeof sandboxSettingsFrom>;

/** `environment`: see `pickBuildEnvironment`. */
export function sandboxSettingsFrom(
  values: z.output<z.ZodObject<typeof sandboxSettings>>,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const { TOWPATH_DATA_DIR: dataDirectory, TOWPATH_PYTHON_MIRROR: mirror = null } = values;
  const list = values.TOWPATH_PYTHON_LIST ?? null;
  const downloads: PythonDownloads = { directory: `${dataDirectory}/pythons`, mirror, list };
  const isolation: IsolationConfig = {
    kernel: values.TOWPATH_ISOLATION === "gvisor" ? "gvisor" : "host",
    allowUnsandboxed: values.TOWPATH_ALLOW_UNSANDBOXED,
    allowWeakLimits: values.TOWPATH_ALLOW_WEAK_LIMITS,
    allowHostNetwork: values.TOWPATH_ALLOW_HOST_NETWORK,
    allowedRanges: values.TOWPATH_NETWORK_ALLOW,
  };
  return {
    dataDirectory,
    runDirectory: values.TOWPATH_RUN_DIR,
    uv: values.TOWPATH_UV,
    ...(values.TOWPATH_PYTHON_DOWNLOADS && { downloads }),
    dataBytes: values.TOWPATH_SERVER_DATA_MIB * mebibyte,
    isolation,
    buildEnvironment: pickBuildEnvironment(environment),
  };
}

/** The default: nothing is relaxed. */
export const strictIsolation: IsolationConfig = {
  kernel: "host",
  allowUnsandboxed: false,
  allowWeakLimits: false,
  allowHostNetwork: false,
  allowedRanges: [],
};

/** The variables that finding and downloading a Python depends on: uv's settings, search paths and proxies. */
export function interpreterEnvironment(): Record<string, string> {
  const names = /^(PATH|HOME|LANG|XDG_.*|UV_.*|PYENV_.*|SSL_CERT_.*|(HTTPS?|ALL|NO)_PROXY|(https?|all|no)_proxy)$/;
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && names.test(name) ? [[name, value] as const] : [],
  );
  return { ...Object.fromEntries(kept), PATH: pathWithPyenv(process.env) };
}

const operatorSettings =
  /^(UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|INDEX_STRATEGY|INSECURE_HOST|INDEX_[A-Z0-9_]+_(USERNAME|PASSWORD)|HTTP_TIMEOUT|HTTP_RETRIES|HTTP_CONNECT_TIMEOUT|REQUEST_TIMEOUT|EXCLUDE_NEWER|NATIVE_TLS|SYSTEM_CERTS|CONCURRENT_(DOWNLOADS|BUILDS|INSTALLS)|HTTPS?_PROXY|NO_PROXY)|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|https?_proxy|all_proxy|no_proxy|SSL_CERT_FILE)$/;

/** The certificate store of Debian and its derivatives; sandboxes see the host's. */
const hostCertificates = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Picks the variables that builds get: the operator's index, proxy and certificate settings. If the host has a
 * certificate store, uv uses it, because it may contain the company's own authority; else uv's built-in list. Tenants'
 * build scripts can read these variables, so everyone who may deploy can see an index's password.
 */
export function pickBuildEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  hostHasCertificates: boolean = existsSync(hostCertificates),
): Record<string, string> {
  const given = Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && value !== "" && operatorSettings.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries([...(hostHasCertificates ? [["UV_SYSTEM_CERTS", "1"] as const] : []), ...given]);
}
