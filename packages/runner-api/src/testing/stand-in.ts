import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type LeasedInstance, RunnerError, type RunnerErrorCode } from "../contract.ts";
import type { Endpoint, RunnerAddress, ServerEndpoint } from "../endpoint.ts";
import { createRunnerApi } from "../server.ts";
import { partsOf, type ServerKey } from "../server-key.ts";

/** The default secret of instances. */
export const standInSecret = "secret-of-a-stand-in";

/** The server of a deployment in a test. */
type StandInServer = {
  /** The id of the next or running instance. */
  readonly instanceId: string;
  readonly endpoint: Endpoint;
  /** Time that a start takes, milliseconds. */
  readonly startMs?: number;
  /** What `ensure` and `verify` reject with. */
  readonly failure?: {
    readonly code: RunnerErrorCode;
    readonly message: string;
    readonly retryAfterMs?: number;
    readonly timedOut?: NonNullable<RunnerError["timedOut"]>;
  };
  /** Frozen. */
  readonly isAsleep?: boolean;
  /** Does not answer at /mcp. */
  readonly isSilent?: boolean;
  /** Output of its start; by default none. */
  readonly shown?: LeasedInstance["shown"];
};

/**
 * A runner without processes, for tests of its callers: it serves the real API and passes the contract test. The test
 * starts the servers and registers their endpoints here.
 */
export type RunnerStandIn = {
  readonly servers: Map<string, StandInServer>;
  /** Finds a deployment's server; in `servers` unless a test replaces it. */
  lookUp: (deploymentId: string) => StandInServer | undefined | Promise<StandInServer | undefined>;
  /** Deployment ids of the calls of `ensure` and `verify`, in order. */
  readonly ensured: string[];
  leaseMs: number;
  /** Accepts calls and never answers them, like a stopped process. */
  hangs: boolean;
  /** Its address; with the real port once it has started. */
  address: RunnerAddress;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export function createRunnerStandIn(address: RunnerAddress): RunnerStandIn {
  /** Instance ids by deployment. */
  const running = new Map<string, string>();
  const isRunning = (deploymentId: string, instanceId: string) => running.get(deploymentId) === instanceId;
  const ensure = async (deploymentId: string): Promise<{ leased: LeasedInstance; isSilent: boolean }> => {
    const askedAt = performance.now();
    standIn.ensured.push(deploymentId);
    const server = await standIn.lookUp(deploymentId);
    if (server === undefined) throw new RunnerError("not_found", "There is no such deployment.");
    const isStarting = !isRunning(deploymentId, server.instanceId);
    if (server.startMs) await sleep(server.startMs);
    if (server.failure) throw new RunnerError(server.failure.code, server.failure.message, server.failure);
    const { instanceId, isSilent = false, shown = { output: [] } } = server;
    const endpoint: ServerEndpoint = { secret: standInSecret, ...server.endpoint };
    const state = isStarting ? "started" : "ready";
    running.set(deploymentId, instanceId);
    const waitedMs = performance.now() - askedAt;
    const spent = isStarting ? { placeMs: 0, startMs: waitedMs } : {};
    const leased = { instanceId, endpoint, leaseMs: standIn.leaseMs, state, waitedMs, spent } as const;
    return { leased: isStarting ? { ...leased, shown } : leased, isSilent };
  };
  const api = createRunnerApi((error) => {
    throw error;
  });
  api.serve(
    unlessHanging(() => standIn.hangs, {
      ensure: async ({ server }) => (await ensure(server)).leased,
      async verify({ server }) {
        const { leased, isSilent } = await ensure(server);
        if (isSilent) throw new RunnerError("no_answer", "It does not answer.");
        return leased;
      },
      async stop({ server: key }) {
        const server = standIn.servers.get(key);
        if (running.delete(key) && server) standIn.servers.set(key, { ...server, instanceId: randomUUID() });
        return {};
      },
      isRunning: async ({ server: key, instanceId }) => ({
        isRunning: isRunning(key, instanceId) && (await standIn.lookUp(key))?.instanceId === instanceId,
      }),
      state: async ({ server: key }) => {
        const server = await standIn.lookUp(key);
        const isUp = server !== undefined && isRunning(key, server.instanceId);
        return { state: isUp ? (server.isAsleep ? "asleep" : "ready") : "stopped" };
      },
      list: async () => ({ instances: [...running].map(([deploymentId, id]) => described(deploymentId, id)) }),
      isolation: async () => ({ trusted: true, checks: [], exceptions: [], problems: [] }),
      prewarm: async () => ({ ready: 0, memoryBytes: 0, maxMemoryBytes: 0, hits: 0, misses: {}, died: 0 }),
      health: async () => ({ status: "ok" }),
    }),
  );
  const standIn: RunnerStandIn = {
    servers: new Map(),
    lookUp: (deploymentId) => standIn.servers.get(deploymentId),
    ensured: [],
    leaseMs: 10_000,
    hangs: false,
    address,
    async start() {
      standIn.address = await api.listen(standIn.address);
    },
    async stop() {
      const closed = api.close();
      api.destroy();
      await closed;
    },
  };
  return standIn;
}

function unlessHanging<Handlers extends Record<string, (parameters: never) => Promise<unknown>>>(
  hangs: () => boolean,
  handlers: Handlers,
): Handlers {
  const wrapped = Object.entries(handlers).map(([call, handle]) => [
    call,
    (parameters: never) => (hangs() ? new Promise(() => {}) : handle(parameters)),
  ]);
  return Object.fromEntries(wrapped) as Handlers;
}

function described(key: ServerKey, id: string) {
  const now = new Date().toISOString();
  const times = { startedAt: now, readyAt: now, leasedUntil: now };
  return { id, ...partsOf(key), state: "ready" as const, ...times, memoryBytes: null, failures: 0 };
}
