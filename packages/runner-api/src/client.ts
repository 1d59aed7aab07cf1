import type { IsolationReport } from "@towpath/core/operations/host-isolation/schema";
import { currentTraceparent } from "@towpath/telemetry/trace";
import { errors, Pool } from "undici";
import {
  failureSchema,
  type LeasedInstance,
  type PrewarmReport,
  type RunnerAnswer,
  type RunnerCall,
  RunnerError,
  type RunnerInstance,
  runnerCalls,
  type ServerState,
} from "./contract.ts";
import { dialTarget, isDialFailure, type RunnerAddress } from "./endpoint.ts";
import { HangDetector } from "./hang-detector.ts";
import type { ServerKey } from "./server-key.ts";

type CallOptions = {
  /** Aborts the wait: the call rejects with the signal's reason, but the runner continues. */
  readonly signal?: AbortSignal;
  /** The span that the call belongs to (W3C Trace Context). Default: the one under way. */
  readonly traceparent?: string;
};

/**
 * Calls the runner from another process. Every call rejects with RunnerError; its `code` is `unreachable` if the runner
 * is down or hangs, which is detected after 2.5 s however long a start may take.
 */
export type RunnerClient = {
  /** Starts or wakes the server unless it is ready, and leases it. May take as long as a start. */
  ensure(server: ServerKey, options?: CallOptions): Promise<LeasedInstance>;
  /** Like `ensure`, after the server has answered at /mcp; rejects with `no_answer` if it doesn't within 10 s. */
  verify(server: ServerKey, options?: CallOptions): Promise<LeasedInstance>;
  /** Whether exactly this instance runs, frozen or not. Starts nothing. */
  isRunning(server: ServerKey, instanceId: string, options?: CallOptions): Promise<boolean>;
  /** How the server is. Starts and wakes nothing, and gives no lease. */
  state(server: ServerKey, options?: CallOptions): Promise<ServerState>;
  /** Stops the server, even if it is leased. Resolves when it has ended. */
  stop(server: ServerKey, options?: CallOptions): Promise<void>;
  list(options?: CallOptions): Promise<readonly RunnerInstance[]>;
  /** What protects servers on the runner's host. */
  isolation(options?: CallOptions): Promise<IsolationReport>;
  /** Interpreters that wait for a server, and how often they were of use. */
  prewarm(options?: CallOptions): Promise<PrewarmReport>;
  /** Resolves if the runner answers. */
  health(options?: CallOptions): Promise<void>;
  /** Ends all connections; running calls reject. */
  close(): Promise<void>;
};

/** `timeoutMs`: maximum wait for the answer of a healthy runner. */
export function createRunnerClient(address: RunnerAddress, { timeoutMs }: { timeoutMs: number }): RunnerClient {
  const transport = new Transport(address, timeoutMs);
  return {
    ensure: (server, options) => transport.call("ensure", { server }, options),
    verify: (server, options) => transport.call("verify", { server }, options),
    async isRunning(server, instanceId, options) {
      return (await transport.call("isRunning", { server, instanceId }, options)).isRunning;
    },
    async state(server, options) {
      return (await transport.call("state", { server }, options)).state;
    },
    async stop(server, options) {
      await transport.call("stop", { server }, options);
    },
    async list(options) {
      return (await transport.call("list", {}, options)).instances;
    },
    isolation: (options) => transport.call("isolation", {}, options),
    prewarm: (options) => transport.call("prewarm", {}, options),
    async health(options) {
      await transport.call("health", {}, options);
    },
    close: () => transport.close(),
  };
}

type Parameters = Readonly<Record<string, string>>;

class Transport {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;
  readonly #hangs = new HangDetector(async (signal) => {
    const { method, path } = runnerCalls.health;
    const { body } = await this.#pool.request({ method, path, headers: this.#headers, signal });
    await body.dump();
  });

  constructor(address: RunnerAddress, timeoutMs: number) {
    const { origin, options } = dialTarget(address);
    this.#timeoutMs = timeoutMs;
    this.#headers = address.kind === "tcp" ? { authorization: `Bearer ${address.secrets[0]}` } : {};
    this.#pool = new Pool(origin, { ...options, headersTimeout: timeoutMs, bodyTimeout: 10_000, pipelining: 1 });
  }

  async call<Call extends RunnerCall>(
    name: Call,
    parameters: Parameters,
    options: CallOptions = {},
  ): Promise<RunnerAnswer<Call>> {
    const { status, text } = await this.#hangs.during((hung) => this.#send(name, parameters, hung, options));
    const body = parsed(text);
    if (status === 200) {
      const answer = runnerCalls[name].answer.safeParse(body);
      if (answer.success) return answer.data as RunnerAnswer<Call>;
    }
    const failure = failureSchema.safeParse(body);
    // A proxy or a mesh between may answer in place of a runner that is gone.
    if (!failure.success && status !== 200)
      throw new RunnerError("unreachable", "something else answers in place of the runner", {
        cause: new Error(`HTTP ${status}: ${text.slice(0, 200)}`),
      });
    if (!failure.success) throw new RunnerError("internal", "The runner's response is not valid.");
    const { code, message, retryAfterMs = null, timedOut = null } = failure.data.error;
    throw new RunnerError(code, message, { retryAfterMs, timedOut });
  }

  async #send(
    name: RunnerCall,
    parameters: Parameters,
    hung: AbortSignal,
    { signal: given, traceparent = currentTraceparent() ?? undefined }: CallOptions,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { method } = runnerCalls[name];
    const path = filled(runnerCalls[name].path, parameters);
    const signal = given ? AbortSignal.any([hung, given]) : hung;
    const headers = traceparent === undefined ? this.#headers : { ...this.#headers, traceparent };
    for (let attempt = 1; ; attempt++) {
      try {
        const { statusCode, body } = await this.#pool.request({ method, path, headers, signal });
        return { status: statusCode, text: await body.text() };
      } catch (error) {
        given?.throwIfAborted();
        // The connection closed during the call, as when the runner restarts. All calls are idempotent.
        if (attempt === 1 && !hung.aborted && isClosedConnection(error)) continue;
        throw this.#failed(error, hung.aborted);
      }
    }
  }

  #failed(cause: unknown, hung: boolean): RunnerError {
    if (hung) return new RunnerError("unreachable", "the runner does not answer", { cause });
    if (isDialFailure(cause)) return new RunnerError("unreachable", "the runner is not running", { cause });
    if (isClosedConnection(cause)) return new RunnerError("unreachable", "the runner closed the connection", { cause });
    const seconds = Math.round(this.#timeoutMs / 1000);
    return new RunnerError("internal", `The runner did not answer within ${seconds} s. Try again shortly.`, { cause });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

/** A runner that is killed before it has read the request resets the connection, which is an error of the system. */
const isClosedConnection = (error: unknown): boolean =>
  error instanceof errors.SocketError ||
  (error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE"));

function filled(path: string, parameters: Parameters): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ""));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
