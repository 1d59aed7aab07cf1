import { z } from "zod";

/** Only "yes" allows; a value that was meant to allow something and does not is said at start. */
const namedYes = z
  .enum(["yes", "no", ""], "must be yes or no")
  .optional()
  .transform((value) => value === "yes");

const addressRange = z.string().regex(/^\d{1,3}(\.\d{1,3}){3}(\/\d{1,2})?$/, "must be IPv4 ranges such as 10.1.0.0/16");

/** Settings of the sandbox driver, for the zod object of each process that makes one (worker, runner). */
export const sandboxSettings = {
  /** `yes`: run servers and builds although the isolation cannot be set up. Everything that runs then is trusted. */
  TOWPATH_ALLOW_UNSANDBOXED: namedYes,
  /** `yes`: run servers and builds although nothing on this host enforces their limits as a whole. */
  TOWPATH_ALLOW_WEAK_LIMITS: namedYes,
  /** `yes`: where a sandbox cannot have a network of its own, it may use the host's, loopback included. */
  TOWPATH_ALLOW_HOST_NETWORK: namedYes,
  /** Private address ranges that sandboxes may reach, separated by commas; for example an own package index. */
  TOWPATH_NETWORK_ALLOW: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((range) => range.trim()))
    .transform((ranges) => ranges.filter((range) => range !== ""))
    .pipe(z.array(addressRange)),
};

/** What the operator allows a sandbox to lack or to reach. */
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

/** Nothing is allowed: what holds where no setting says otherwise. */
export const strictIsolation: IsolationConfig = {
  allowUnsandboxed: false,
  allowWeakLimits: false,
  allowHostNetwork: false,
  allowedRanges: [],
};

/** Memory, processes and so on of one server; the defaults hold where nothing is set. */
export const serverLimitSettings = {
  TOWPATH_SERVER_MEMORY_MIB: z.coerce.number().int().min(64).default(512),
  TOWPATH_SERVER_CPUS: z.coerce.number().min(0.05).default(1),
  TOWPATH_SERVER_PROCESSES: z.coerce.number().int().min(8).default(256),
  TOWPATH_SERVER_TMP_MIB: z.coerce.number().int().min(1).default(256),
};

/** What finding a Python on this host depends on: uv's own settings and where programs are. */
export function interpreterEnvironment(): Record<string, string> {
  const names = /^(PATH|HOME|LANG|XDG_.*|UV_.*|PYENV_.*|SSL_CERT_.*)$/;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && names.test(name) ? [[name, value]] : [],
    ),
  );
}
