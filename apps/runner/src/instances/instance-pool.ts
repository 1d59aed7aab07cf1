import {
  type LeasedInstance,
  partsOf,
  RunnerError,
  type RunnerInstance,
  type ServerKey,
  type ServerState,
} from "@towpath/runner-api";
import type { InstanceTiming } from "../config.ts";
import type { DeploymentUse } from "../deployments/deployment.store.ts";
import type { Places } from "../places/places.ts";
import { DeploymentServer } from "./deployment-server.ts";
import type { OpenedDeployment } from "./instance.ts";
import type { InstanceRecord } from "./instance-record.ts";
import type { LaunchParts } from "./launch.ts";
import type { Adoption, ServerOwner } from "./server-parts.ts";
import { verifiedLease } from "./verify.ts";

export type InstancePoolParts = {
  readonly start: LaunchParts["start"];
  readonly timing: InstanceTiming;
  readonly places: Places;
  readonly record: InstanceRecord;
  /** Throws RunnerError `not_found`. */
  readonly owner: (server: ServerKey) => Promise<ServerOwner>;
  /** Throws RunnerError `not_found` or DeploymentUnusable. */
  readonly open: (server: ServerKey) => Promise<OpenedDeployment>;
  /**
   * The stamp (`OpenedDeployment`) of the values that a caller has now; null for a server that all callers share. Throws
   * RunnerError `values_missing`.
   */
  readonly valuesStamp: (server: ServerKey) => Promise<string | null>;
  /** When a deployment's lost layers are rebuilt; null: now. */
  readonly nextRebuild: LaunchParts["nextRebuild"];
  /** The use of these deployments' servers; absent for a deployment that doesn't exist. */
  readonly uses: (ids: readonly string[]) => Promise<ReadonlyMap<string, DeploymentUse>>;
  /** Receives errors of the platform. */
  readonly onError: (error: unknown) => void;
};

const maxTickMs = 1000;
const reconcileMs = 10_000;

/** Why an unneeded server is stopped, for its owner. */
const unneeded = {
  deleted: "its deployment was deleted",
  replaced: "a newer version took its place",
  unrouted: "no address leads to it any more",
} as const;
const measureMs = 2000;

/** All servers of this host. */
export class InstancePool {
  readonly #parts: InstancePoolParts;
  readonly #servers = new Map<ServerKey, DeploymentServer>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Servers that the last round of `reconcile` found unneeded. */
  #unneeded: ReadonlySet<ServerKey> = new Set();
  /** Servers to start again, and how many starts of them are under way. */
  readonly #interrupted = new Set<ServerKey>();
  #startingAgain = 0;
  #isMeasuring = false;
  #closing = false;

  constructor(parts: InstancePoolParts) {
    this.#parts = parts;
    const tickMs = Math.max(20, Math.min(maxTickMs, parts.timing.freezeAfterMs / 4, parts.timing.stopAfterMs / 4));
    this.#timers.push(setInterval(() => this.#tick(), tickMs).unref());
    this.#timers.push(setInterval(() => void this.measure(), measureMs).unref());
    this.#timers.push(setInterval(() => void this.reconcile().catch(() => {}), reconcileMs).unref());
  }

  /** Throws RunnerError. */
  async lease(key: ServerKey): Promise<LeasedInstance> {
    if (this.#closing) throw new RunnerError("stopping", "The runner is shutting down.", { retryAfterMs: 1000 });
    const stamp = await this.#stampOf(key);
    const server = this.#server(key);
    if (stamp !== null) await server.stopUnlessStarted(stamp);
    return await server.lease();
  }

  /** The stamp of a caller's values; whose server ends if one is missing. @throws RunnerError `values_missing` */
  async #stampOf(key: ServerKey): Promise<string | null> {
    if (partsOf(key).callerId === null) return null;
    try {
      return await this.#parts.valuesStamp(key);
    } catch (error) {
      // The refusal doesn't wait until the server has ended.
      if (error instanceof RunnerError && error.code === "values_missing")
        void this.#servers.get(key)?.stop("its caller deleted a value", true).catch(this.#parts.onError);
      throw error;
    }
  }

  /** Like `lease`, after the server has answered at /mcp. Throws RunnerError. */
  async verify(key: ServerKey): Promise<LeasedInstance> {
    return await verifiedLease(() => this.lease(key), this.#parts.timing.answerTimeoutMs);
  }

  /** Whether exactly this instance runs, frozen or not. */
  async isRunning(key: ServerKey, instanceId: string): Promise<boolean> {
    const found = await this.#servers.get(key)?.describe();
    return found?.id === instanceId && (found.state === "ready" || found.state === "frozen");
  }

  /** Starts and wakes nothing. */
  async state(key: ServerKey): Promise<ServerState> {
    const found = await this.#servers.get(key)?.describe();
    if (found?.state === "ready") return "ready";
    return found?.state === "frozen" ? "asleep" : "stopped";
  }

  /** Adds a server that was running when this runner started. */
  adopt({ server, ...adoption }: Adoption): void {
    this.#server(server).adopt(adoption);
  }

  /**
   * Starts servers that ended with the platform while they were in use, before anybody calls them. With half of the
   * starts that may be under way at a time: whoever calls one of the others doesn't wait behind them.
   */
  startAgain(keys: readonly ServerKey[]): void {
    for (const key of keys) this.#interrupted.add(key);
    const atOnce = Math.max(1, Math.floor(this.#parts.places.budget.maxStarting / 2));
    // A cluster has no bounds of its own.
    const free = Math.min(atOnce - this.#startingAgain, this.#interrupted.size);
    for (let started = 0; started < free; started++) void this.#startInterrupted();
  }

  async #startInterrupted(): Promise<void> {
    this.#startingAgain += 1;
    for (const key of this.#interrupted) {
      this.#interrupted.delete(key);
      const { deploymentId } = partsOf(key);
      // Without the database it may be needed.
      const use = await this.#parts.uses([deploymentId]).then(
        (uses) => uses.get(deploymentId),
        () => "needed",
      );
      // A failure is in its log.
      if (use === "needed") await this.lease(key).catch(() => {});
    }
    this.#startingAgain -= 1;
  }

  async stop(key: ServerKey): Promise<void> {
    await this.#servers.get(key)?.stop("a stop was requested");
  }

  async list(): Promise<RunnerInstance[]> {
    const found = await Promise.all([...this.#servers.values()].map((server) => server.describe()));
    return found.filter((each) => each !== null);
  }

  /**
   * Stops servers of deleted deployments, and those without a route or an open session, once nothing has used them for
   * `unneededAfterMs`. Two rounds must agree: in between, a rollback may have moved the route, or the rows of a session
   * may have arrived.
   */
  async reconcile(): Promise<void> {
    const keys = [...this.#servers.keys()];
    if (keys.length === 0) return;
    const before = this.#unneeded;
    this.#unneeded = new Set();
    const uses = await this.#parts.uses([...new Set(keys.map((key) => partsOf(key).deploymentId))]);
    // A caller may have deleted a value; without the database all stay.
    for (const key of keys) await this.#stampOf(key).catch(() => {});
    const useOf = (key: ServerKey) => uses.get(partsOf(key).deploymentId) ?? "deleted";
    this.#unneeded = new Set(keys.filter((key) => useOf(key) !== "needed"));
    await Promise.all(
      [...this.#unneeded].map(async (key) => {
        const use = useOf(key);
        if (use === "needed") return;
        if (use === "deleted") await this.#servers.get(key)?.stop(unneeded[use]);
        else if (before.has(key)) await this.#servers.get(key)?.stopUnneeded(unneeded[use]);
      }),
    );
  }

  /** Stops everything; nothing starts afterwards. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([...this.#servers.values()].map((server) => server.close("the runner is shutting down")));
  }

  #server(key: ServerKey): DeploymentServer {
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    const { start, timing, record, places, owner, open, nextRebuild, onError } = this.#parts;
    const server = new DeploymentServer({
      server: key,
      start,
      timing,
      record,
      onError,
      places,
      owner: () => owner(key),
      open: () => open(key),
      nextRebuild,
      startAgain: () => this.startAgain([key]),
    });
    this.#servers.set(key, server);
    return server;
  }

  /** Measures the memory of all servers, for the placement. */
  async measure(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    await Promise.all([...this.#servers.values()].map((server) => server.measure()));
    this.#isMeasuring = false;
  }

  #tick(): void {
    const now = performance.now();
    for (const [id, server] of this.#servers) {
      server.tick(now);
      if (server.isForgettable(now)) this.#servers.delete(id);
    }
    // Leases may have expired.
    this.#parts.places.settle();
  }
}
