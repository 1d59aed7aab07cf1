import { type LeasedInstance, RunnerError, type RunnerInstance, type ServerState } from "@towpath/runner-api";
import type { InstanceTiming } from "../config.ts";
import type { DeploymentUse } from "../deployments/deployment.store.ts";
import type { Places } from "../places/places.ts";
import { DeploymentServer } from "./deployment-server.ts";
import type { Instance, OpenedDeployment } from "./instance.ts";
import type { InstanceRecord } from "./instance-record.ts";
import type { LaunchParts } from "./launch.ts";
import { verifiedLease } from "./verify.ts";

export type InstancePoolParts = {
  readonly start: LaunchParts["start"];
  readonly timing: InstanceTiming;
  readonly places: Places;
  readonly record: InstanceRecord;
  /** The organization that a deployment belongs to. Throws RunnerError `not_found`. */
  readonly owner: (deploymentId: string) => Promise<string>;
  /** Throws RunnerError `not_found` or DeploymentUnusable. */
  readonly open: (deploymentId: string) => Promise<OpenedDeployment>;
  /** When a deployment's lost layers are rebuilt; null: now. */
  readonly nextRebuild: LaunchParts["nextRebuild"];
  /** The use of these deployments' servers; absent for a deployment that doesn't exist. */
  readonly uses: (ids: readonly string[]) => Promise<ReadonlyMap<string, DeploymentUse>>;
  /** Receives errors of the platform. */
  readonly onError: (error: unknown) => void;
};

export type Adoption = {
  readonly deploymentId: string;
  readonly organizationId: string;
  readonly instance: Instance;
  /** Failures in a row before it started. */
  readonly failures: number;
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
  readonly #servers = new Map<string, DeploymentServer>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Deployments that the last round of `reconcile` found unneeded. */
  #unneeded: ReadonlySet<string> = new Set();
  /** Deployments to start again, and how many starts of them are under way. */
  readonly #interrupted = new Set<string>();
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
  async lease(deploymentId: string): Promise<LeasedInstance> {
    if (this.#closing) throw new RunnerError("stopping", "The runner is shutting down.", { retryAfterMs: 1000 });
    return await this.#server(deploymentId).lease();
  }

  /** Like `lease`, after the server has answered at /mcp. Throws RunnerError. */
  async verify(deploymentId: string): Promise<LeasedInstance> {
    return await verifiedLease(() => this.lease(deploymentId), this.#parts.timing.answerTimeoutMs);
  }

  /** Whether exactly this instance runs, frozen or not. */
  async isRunning(deploymentId: string, instanceId: string): Promise<boolean> {
    const found = await this.#servers.get(deploymentId)?.describe();
    return found?.id === instanceId && (found.state === "ready" || found.state === "frozen");
  }

  /** The state of a deployment's server. Starts and wakes nothing. */
  async state(deploymentId: string): Promise<ServerState> {
    const found = await this.#servers.get(deploymentId)?.describe();
    if (found?.state === "ready") return "ready";
    return found?.state === "frozen" ? "asleep" : "stopped";
  }

  /** Adds a server that was running when this runner started. */
  adopt({ deploymentId, organizationId, instance, failures }: Adoption): void {
    this.#server(deploymentId).adopt(instance, organizationId, failures);
  }

  /**
   * Starts servers that ended with the platform while they were in use, before anybody calls them. With half of the
   * starts that may be under way at a time: whoever calls one of the others doesn't wait behind them.
   */
  startAgain(deploymentIds: readonly string[]): void {
    for (const id of deploymentIds) this.#interrupted.add(id);
    const atOnce = Math.max(1, Math.floor(this.#parts.places.budget.maxStarting / 2));
    // A cluster has no bounds of its own.
    const free = Math.min(atOnce - this.#startingAgain, this.#interrupted.size);
    for (let started = 0; started < free; started++) void this.#startInterrupted();
  }

  async #startInterrupted(): Promise<void> {
    this.#startingAgain += 1;
    for (const id of this.#interrupted) {
      this.#interrupted.delete(id);
      // Without the database it may be needed.
      const use = await this.#parts.uses([id]).then(
        (uses) => uses.get(id),
        () => "needed",
      );
      // A failure is in its log.
      if (use === "needed") await this.lease(id).catch(() => {});
    }
    this.#startingAgain -= 1;
  }

  async stop(deploymentId: string): Promise<void> {
    await this.#servers.get(deploymentId)?.stop("a stop was requested");
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
    const ids = [...this.#servers.keys()];
    if (ids.length === 0) return;
    const before = this.#unneeded;
    this.#unneeded = new Set();
    const uses = await this.#parts.uses(ids);
    this.#unneeded = new Set(ids.filter((id) => uses.get(id) !== "needed"));
    await Promise.all(
      [...this.#unneeded].map(async (id) => {
        const use = uses.get(id) ?? "deleted";
        if (use === "needed") return;
        if (use === "deleted") await this.#servers.get(id)?.stop(unneeded[use]);
        else if (before.has(id)) await this.#servers.get(id)?.stopUnneeded(unneeded[use]);
      }),
    );
  }

  /** Stops everything; nothing starts afterwards. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([...this.#servers.values()].map((server) => server.close("the runner is shutting down")));
  }

  #server(deploymentId: string): DeploymentServer {
    const known = this.#servers.get(deploymentId);
    if (known !== undefined) return known;
    const { start, timing, record, places, owner, open, nextRebuild, onError } = this.#parts;
    const server = new DeploymentServer({
      deploymentId,
      start,
      timing,
      record,
      onError,
      places,
      owner: () => owner(deploymentId),
      open: () => open(deploymentId),
      nextRebuild,
      startAgain: () => this.startAgain([deploymentId]),
    });
    this.#servers.set(deploymentId, server);
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
