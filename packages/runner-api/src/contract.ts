import { isolationReportSchema } from "@towpath/core/operations/host-isolation/schema";
import { z } from "zod";
import { serverEndpointSchema } from "./endpoint.ts";

/** A server that accepts requests at `endpoint` and is neither frozen nor stopped for `leaseMs`. */
const leasedInstanceSchema = z.object({
  instanceId: z.string().min(1),
  /** Speaks HTTP, with MCP at /mcp. */
  endpoint: serverEndpointSchema,
  /** Counted from when the runner answers. */
  leaseMs: z.number().positive(),
  /** What this call had to do. */
  state: z.enum(["started", "woken", "ready"]),
  /** Duration of the call in the runner, milliseconds. */
  waitedMs: z.number().nonnegative(),
  /** What it was spent on, milliseconds; absent for what was not needed. Earlier runners don't say. */
  spent: z
    .object({
      /** Waiting for a pause after crashes to end, and for a place on the host. */
      placeMs: z.number().nonnegative(),
      /** From having the place until the server answered. */
      startMs: z.number().nonnegative(),
      wakeMs: z.number().nonnegative(),
    })
    .partial()
    .optional(),
  /**
   * What its start has shown, for the build that made it; absent for a server that ran already. Earlier runners don't
   * say.
   */
  shown: z
    .object({
      /** What it printed until it was ready: the first lines. */
      output: z.array(z.string()),
      /** See `StartResult` of packages/runtime. */
      bridge: z.enum(["object", "program"]).optional(),
      incomplete: z.object({ reason: z.string(), tools: z.array(z.string()).readonly() }).optional(),
    })
    .optional(),
});
export type LeasedInstance = z.infer<typeof leasedInstanceSchema>;

const runnerInstanceSchema = z.object({
  id: z.string(),
  deploymentId: z.string(),
  /** The person whom alone it serves; null: all callers. Earlier runners don't say. */
  callerId: z.string().nullable().default(null),
  state: z.enum(["starting", "ready", "frozen", "stopping", "stopped", "crashed"]),
  startedAt: z.iso.datetime(),
  readyAt: z.iso.datetime().nullable(),
  leasedUntil: z.iso.datetime(),
  /** Null if the host doesn't count it. */
  memoryBytes: z.number().nullable(),
  /** Failures in a row before this start. */
  failures: z.number(),
});
export type RunnerInstance = z.infer<typeof runnerInstanceSchema>;

/** `ready`: it takes requests now. `asleep`: frozen. `stopped`: no process, or none that is ready. */
const serverStateSchema = z.enum(["ready", "asleep", "stopped"]);
export type ServerState = z.infer<typeof serverStateSchema>;

const prewarmReportSchema = z.object({
  /** Interpreters that wait for a server. */
  ready: z.number(),
  memoryBytes: z.number(),
  /** The most memory that they may use; 0: none are prewarmed. */
  maxMemoryBytes: z.number(),
  /** Starts from one of them, since the runner's start. */
  hits: z.number(),
  /** Starts that imported as usual, by reason. */
  misses: z.record(z.string(), z.number()),
  /** Interpreters that ended by themselves while they waited. */
  died: z.number(),
});
export type PrewarmReport = z.infer<typeof prewarmReportSchema>;

/**
 * Every call: its method, its path and the body of a 200. `:server`: a `ServerKey`. Requests have no body. Only `health`
 * needs no secret.
 */
export const runnerCalls = {
  ensure: { method: "POST", path: "/v1/deployments/:server/ensure", answer: leasedInstanceSchema },
  verify: { method: "POST", path: "/v1/deployments/:server/verify", answer: leasedInstanceSchema },
  stop: { method: "POST", path: "/v1/deployments/:server/stop", answer: z.object({}) },
  isRunning: {
    method: "GET",
    path: "/v1/deployments/:server/instances/:instanceId",
    answer: z.object({ isRunning: z.boolean() }),
  },
  state: {
    method: "GET",
    path: "/v1/deployments/:server/state",
    answer: z.object({ state: serverStateSchema }),
  },
  list: { method: "GET", path: "/v1/instances", answer: z.object({ instances: z.array(runnerInstanceSchema) }) },
  isolation: { method: "GET", path: "/v1/isolation", answer: isolationReportSchema },
  prewarm: { method: "GET", path: "/v1/prewarm", answer: prewarmReportSchema },
  /** `waiting`: for the runner that leads to end, to take its place. */
  health: {
    method: "GET",
    path: "/healthz",
    answer: z.object({ status: z.enum(["ok", "waiting"]), message: z.string().optional() }),
  },
} as const satisfies Record<string, { method: "GET" | "POST"; path: string; answer: z.ZodType }>;

export type RunnerCall = keyof typeof runnerCalls;
export type RunnerAnswer<Call extends RunnerCall> = z.infer<(typeof runnerCalls)[Call]["answer"]>;

/**
 * Why a call failed. `waitHelps`: the same call may succeed later without a change. A server that does not start won't
 * start later either.
 */
export const runnerErrors = {
  /** No such deployment or path. */
  not_found: { status: 404, waitHelps: false },
  /** No secret, or one that the runner does not know. */
  unauthorized: { status: 401, waitHelps: false },
  /** The server exited before it was ready, or its Python or a secret is missing. */
  start_failed: { status: 503, waitHelps: false },
  /** Its layers are lost or damaged. What is live is built again by the worker. */
  layers_lost: { status: 503, waitHelps: false },
  /** It was ready, but exited before the call was answered. */
  ended: { status: 503, waitHelps: true },
  /** It started, but doesn't answer at /mcp. Only from `verify`. */
  no_answer: { status: 503, waitHelps: false },
  /** Its caller has no value, or no longer one, for a variable that is per caller. The message names the variables. */
  values_missing: { status: 409, waitHelps: false },
  /** It keeps failing and may not start again yet. */
  crash_backoff: { status: 503, waitHelps: true },
  /** The host has no place for another server. */
  capacity: { status: 503, waitHelps: true },
  /** An outage of what runs servers, such as a cluster's API. */
  unavailable: { status: 503, waitHelps: true },
  /** The runner is shutting down, or doesn't lead yet. */
  stopping: { status: 503, waitHelps: true },
  /** The host cannot run servers in a sandbox. */
  isolation_unavailable: { status: 503, waitHelps: false },
  /** An internal error of the runner; its log has the cause. */
  internal: { status: 500, waitHelps: false },
} as const satisfies Record<string, { status: number; waitHelps: boolean }>;

type AnsweredErrorCode = keyof typeof runnerErrors;
/** `unreachable` comes from the client: no runner answered, so none froze or stopped anything meanwhile. */
export type RunnerErrorCode = AnsweredErrorCode | "unreachable";

const answeredCodes = Object.keys(runnerErrors) as [AnsweredErrorCode, ...AnsweredErrorCode[]];

/** A place in the code of a server. `isOwn`: in the server's own code, whose paths are relative to its directory. */
const frameSchema = z.object({
  file: z.string(),
  line: z.number().int(),
  name: z.string(),
  isOwn: z.boolean(),
});

/** What a server was doing that was neither ready nor had failed in time. */
const lateStartSchema = z.object({
  /**
   * `starved`: it was ready to run, and the host's processors were busy with others. `busy`: it used its processor time.
   * `waiting`: it used little, though the host had more.
   */
  activity: z.enum(["starved", "busy", "waiting"]),
  /** Time that it was given, in milliseconds. */
  afterMs: z.number(),
  /** Processor time that it used, in milliseconds. */
  processorMs: z.number(),
  /** Where its own code stood, and then what that had called, the innermost call last; empty if that isn't known. */
  stack: z.array(frameSchema).readonly(),
});

/**
 * What a server printed that wasn't ready within the limit for its start: the first lines. `late`: earlier runners don't
 * say. Only from `ensure`.
 */
const timedOutSchema = z.object({ output: z.array(z.string()), late: lateStartSchema.optional().catch(undefined) });

/** Body of every response but 200. Unknown codes, of a newer runner, are read as `internal`. */
export const failureSchema = z.object({
  error: z.object({
    code: z.enum(answeredCodes).catch("internal"),
    message: z.string(),
    retryAfterMs: z.number().nonnegative().optional(),
    timedOut: timedOutSchema.optional(),
  }),
});

type RunnerErrorMore = {
  readonly retryAfterMs?: number | null;
  readonly timedOut?: z.infer<typeof timedOutSchema> | null;
  readonly cause?: unknown;
};

/** Thrown by the client and by the handlers of a server. */
export class RunnerError extends Error {
  override readonly name = "RunnerError";
  readonly code: RunnerErrorCode;
  /** When to retry according to the runner, milliseconds; null if it doesn't say. */
  readonly retryAfterMs: number | null;
  /** For the build that started it, not for callers; null for another reason than time. Earlier runners don't say. */
  readonly timedOut: z.infer<typeof timedOutSchema> | null;

  /** Callers of the tenant's server see `message`: it must not contain paths, settings or secrets. */
  constructor(
    code: RunnerErrorCode,
    message: string,
    { retryAfterMs = null, timedOut = null, cause }: RunnerErrorMore = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.timedOut = timedOut;
  }

  get waitHelps(): boolean {
    return this.code === "unreachable" || runnerErrors[this.code].waitHelps;
  }
}
