import { errors, Pool } from "undici";
import { z } from "zod";
import { Refusal } from "../refusal.ts";
import { RunnerPulse } from "./runner-pulse.ts";

const grantSchema = z.object({ instanceId: z.string(), socketPath: z.string(), leaseMs: z.number().positive() });
const failureSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), retryAfterMs: z.number().optional() }),
});
const instanceSchema = z.object({ id: z.string(), deploymentId: z.string(), state: z.string() });
const instancesSchema = z.union([
  z.array(instanceSchema),
  z.object({ instances: z.array(instanceSchema) }).transform((body) => body.instances),
]);

/** Reasons of the runner's that end by themselves. A server that does not start will not start for waiting. */
const passes: ReadonlySet<string> = new Set(["crash_backoff", "capacity", "stopping"]);

export type Grant = z.infer<typeof grantSchema>;

/** The runner is not there, or hangs. What it started earlier may still run, and nobody freezes it meanwhile. */
export class RunnerUnreachable extends Error {}

export type RunnerClient = {
  /**
   * Leases the deployment's instance; the runner starts or wakes it first. May take as long as a start.
   *
   * @throws RunnerUnreachable when the runner is not there or hangs
   * @throws Refusal 404 (`unknown_server`) for a deployment that is gone, 503 with the runner's reason otherwise;
   *   its `waitMs` is set when the same call may succeed later
   */
  lease: (deploymentId: string) => Promise<Grant>;
  /** Whether an instance still runs (ready or frozen). Asking starts nothing. */
  isRunning: (deploymentId: string, instanceId: string) => Promise<boolean>;
  close: () => Promise<void>;
};

/** Speaks the runner's HTTP API on its unix socket. `timeoutMs`: longest wait for a start. */
export function createRunnerClient(socketPath: string, timeoutMs: number): RunnerClient {
  const pool = new Pool("http://runner", { socketPath, headersTimeout: timeoutMs, bodyTimeout: 10_000, pipelining: 1 });

  const pulse = new RunnerPulse(async (signal) => {
    const { body } = await pool.request({ method: "GET", path: "/healthz", signal });
    await body.dump();
  });

  const call = (method: "GET" | "POST", path: string) => pulse.during((signal) => ask(method, path, signal));
  const ask = async (method: "GET" | "POST", path: string, signal: AbortSignal) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const { statusCode, body } = await pool.request({ method, path, signal });
        return { status: statusCode, body: await body.json() };
      } catch (error) {
        if (signal.aborted) throw new RunnerUnreachable("the runner does not answer", { cause: error });
        if (isDialFailure(error)) throw new RunnerUnreachable("the runner is not running", { cause: error });
        // A connection that ended under the call, as when the runner restarts. All its calls may be made twice.
        if (attempt === 1 && error instanceof errors.SocketError) continue;
        throw unavailable("The runner did not answer. Try again shortly.");
      }
    }
  };

  return {
    async lease(deploymentId) {
      const answer = await call("POST", `/v1/deployments/${encodeURIComponent(deploymentId)}/lease`);
      if (answer.status === 200) {
        const grant = grantSchema.safeParse(answer.body);
        if (grant.success) return grant.data;
      }
      const failure = failureSchema.safeParse(answer.body);
      if (!failure.success) throw unavailable("The runner gave an answer that was not understood.");
      const { code, message, retryAfterMs } = failure.data.error;
      if (answer.status === 404) throw new Refusal("unknown_server", message);
      throw unavailable(message, retryAfterMs, passes.has(code) || retryAfterMs === 0);
    },
    async isRunning(deploymentId, instanceId) {
      const instances = instancesSchema.safeParse((await call("GET", "/v1/instances")).body);
      return (
        instances.success &&
        instances.data.some(
          (instance) =>
            instance.id === instanceId &&
            instance.deploymentId === deploymentId &&
            (instance.state === "ready" || instance.state === "frozen"),
        )
      );
    },
    close: () => pool.destroy(),
  };
}

/** Whether the other side lives but its queue of new connections is full: nothing was sent to it. */
export function isBacklogFull(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "EAGAIN";
}

/** Whether no connection was made, so that the other side cannot have seen anything of the request. */
export function isDialFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED" || code === "UND_ERR_CONNECT_TIMEOUT") return true;
  return (
    syscall === "connect" && (code === "ECONNREFUSED" || code === "ENOENT" || code === "EAGAIN" || code === "ENOTSOCK")
  );
}

function unavailable(message: string, retryAfterMs = 2000, mayPass = false): Refusal {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  const headers = { "retry-after": String(seconds) };
  return new Refusal("server_failed_to_start", message, headers, mayPass ? retryAfterMs : null);
}
