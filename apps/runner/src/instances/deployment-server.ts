import { type LeasedInstance, RunnerError } from "@towpath/runner-api";
import type { Exit } from "@towpath/runtime";
import { DeploymentUnusable } from "../deployments/server-of-deployment.ts";
import type { Places, Seat } from "../places/places.ts";
import { type BackOff, createBackOff } from "./back-off.ts";
import { Instance, type OpenedDeployment } from "./instance.ts";
import type { InstanceRecord } from "./instance-record.ts";
import { type LaunchFailure, type LaunchParts, launch } from "./launch.ts";
import { Mutex } from "./mutex.ts";

export type DeploymentServerParts = LaunchParts & {
  readonly deploymentId: string;
  readonly record: InstanceRecord;
  /** The organization that it belongs to. Throws RunnerError `not_found`. */
  readonly owner: () => Promise<string>;
  /** Throws RunnerError `not_found` or DeploymentUnusable. */
  readonly open: () => Promise<OpenedDeployment>;
  readonly places: Places;
};

/** The longest back-off that a request is held for; above it the caller gets a time to retry after. */
const maxHeldBackOffMs = 1000;

/**
 * The server of one deployment: at most one instance, started by the first lease, frozen and stopped when no one
 * leases it (RUN-3), started again with growing waits when it crashes (RUN-6).
 *
 * Starting, freezing, waking and stopping happen one at a time. A lease is noted before it waits for its turn, and
 * freezing and stopping look at it in their turn: so a leased instance is never frozen.
 */
export class DeploymentServer {
  readonly #parts: DeploymentServerParts;
  readonly #backOff: BackOff;
  #instance: Instance | null = null;
  #memoryBytes: number | null = null;
  #canFreeze = true;
  /** By the monotonic clock, as all of the runner's waits: a wall clock that jumps must end no lease. */
  #leasedUntil = 0;
  readonly #mutex = new Mutex();
  #obtaining: Promise<LeasedInstance["state"]> | null = null;
  #lastFailure = "";
  #restart: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(parts: DeploymentServerParts) {
    this.#parts = parts;
    this.#backOff = createBackOff(parts.timing);
  }

  /** Starts or wakes the instance when needed and keeps it for `leaseMs`. Concurrent calls share one start. */
  async lease(): Promise<LeasedInstance> {
    const asked = performance.now();
    this.#extendLease(asked);
    const state = (await this.#isIdleReady()) ? "ready" : await this.#obtain();
    const instance = this.#instance;
    const endpoint = instance?.handle?.endpoint;
    if (instance === null || endpoint === undefined)
      throw new RunnerError("ended", "The server ended while it was asked for.", { retryAfterMs: 0 });
    const now = performance.now();
    const leaseMs = this.#extendLease(now);
    return { instanceId: instance.id, endpoint, leaseMs, state, waitedMs: now - asked };
  }

  /**
   * Goes on with an instance of an earlier runner. Which leases that one gave is unknown: one that runs counts as leased
   * just now, and a frozen one as unleased from now on.
   */
  adopt(instance: Instance, organizationId: string, failures: number): void {
    const now = performance.now();
    this.#instance = instance;
    this.#leasedUntil = instance.state === "frozen" ? now : now + this.#parts.timing.leaseMs;
    this.#backOff.restore(failures);
    this.#parts.places.hold(this.#seat(organizationId));
    this.#watch(instance);
  }

  /** Freezes or stops what has been unleased for long enough. Called again and again. */
  tick(now: number): void {
    const instance = this.#instance;
    if (instance === null || this.#mutex.isLocked) return;
    const { freezeAfterMs, stopAfterMs, stopGraceMs } = this.#parts.timing;
    const idle = this.idleMs(now);
    if (idle >= stopAfterMs) void this.#mutex.run(() => this.#stop("it was not used", stopGraceMs, stopAfterMs));
    else if (instance.state === "ready" && this.#canFreeze && idle >= freezeAfterMs)
      void this.#mutex.run(() => this.#freeze());
  }

  /** Stops the instance, even if it is leased. `hurried`: a start waits for its place, so it gets less time. */
  async stop(reason: string, hurried = false): Promise<void> {
    clearTimeout(this.#restart);
    const { stopGraceMs, hurriedGraceMs } = this.#parts.timing;
    this.#parts.places.cancel(
      this.#parts.deploymentId,
      new RunnerError(this.#closed ? "stopping" : "start_failed", `Not started: ${reason}.`, { retryAfterMs: 1000 }),
    );
    await this.#mutex.run(() => this.#stop(reason, hurried ? hurriedGraceMs : stopGraceMs, null));
  }

  /** Like a hurried `stop`, and nothing starts again. */
  async close(reason: string): Promise<void> {
    this.#closed = true;
    await this.stop(reason, true);
  }

  /** Milliseconds since the last lease ended; negative while leased. */
  idleMs(now: number): number {
    return now - this.#leasedUntil;
  }

  /** Takes its memory for the decisions on places. */
  async measure(): Promise<void> {
    const instance = this.#instance;
    const memoryBytes = (await instance?.handle?.memoryBytes()) ?? null;
    if (this.#instance === instance) this.#memoryBytes = memoryBytes;
  }

  /** Whether it can be forgotten: nothing runs, nothing waits, no failure to remember. */
  isForgettable(now: number): boolean {
    const quiet = this.#instance === null && !this.#mutex.isLocked && this.#obtaining === null;
    return quiet && this.#backOff.remaining(now) === 0 && this.idleMs(now) > this.#parts.timing.maxBackOffMs;
  }

  async describe() {
    const instance = this.#instance;
    if (instance === null || (await instance.isDead())) return null;
    return {
      ...(await instance.describe()),
      deploymentId: this.#parts.deploymentId,
      leasedUntil: new Date(Date.now() - this.idleMs(performance.now())).toISOString(),
      failures: this.#backOff.failures,
    };
  }

  /** Returns for how long it holds: short while others wait, so that unused leases expire soon. */
  #extendLease(now: number): number {
    const { leaseMs, contendedLeaseMs } = this.#parts.timing;
    const granted = this.#parts.places.isContended ? Math.min(leaseMs, contendedLeaseMs) : leaseMs;
    this.#leasedUntil = Math.max(this.#leasedUntil, now + granted);
    return granted;
  }

  /** Ready, alive, and nothing is being done to it. */
  async #isIdleReady(): Promise<boolean> {
    const instance = this.#instance;
    if (instance?.state !== "ready" || this.#mutex.isLocked || (await instance.isDead())) return false;
    return this.#instance === instance && instance.state === "ready" && !this.#mutex.isLocked;
  }

  #obtain(): Promise<LeasedInstance["state"]> {
    this.#obtaining ??= this.#mutex
      .run(() => this.#readyLocked())
      .finally(() => {
        this.#obtaining = null;
      });
    return this.#obtaining;
  }

  async #readyLocked(): Promise<LeasedInstance["state"]> {
    const instance = this.#instance;
    const wasFrozen = instance?.state === "frozen";
    if (wasFrozen) await instance.handle?.wake();
    // It may end at any moment.
    if (instance !== null && this.#instance === instance) {
      if (wasFrozen) instance.become("ready");
      // A crash counts once its exit has been reported.
      if (await instance.isDead()) await instance.handle?.exited;
      else if (this.#instance === instance) return wasFrozen ? "woken" : "ready";
    }
    await this.#start();
    // Before its turn ends: whoever is next in turn, to stop it, finds it leased.
    this.#extendLease(performance.now());
    return "started";
  }

  async #start(): Promise<void> {
    const { deploymentId, places } = this.#parts;
    await this.#waitBackOff();
    const organizationId = await this.#parts.owner();
    if (this.#closed) throw new RunnerError("stopping", "The runner is shutting down.", { retryAfterMs: 1000 });
    await places.take(this.#seat(organizationId));
    try {
      await this.#startInPlace();
    } catch (error) {
      places.release(deploymentId);
      throw error;
    }
  }

  #seat(organizationId: string): Seat {
    const { deploymentId } = this.#parts;
    return { deploymentId, organizationId, look: () => this.#look(), evict: () => this.#evict() };
  }

  #look(): ReturnType<Seat["look"]> {
    const state = this.#instance?.state;
    const phase = state === "ready" || state === "frozen" || state === "stopping" ? state : "starting";
    const isLeased = this.idleMs(performance.now()) < 0 || this.#obtaining !== null;
    return { phase, isLeased, lastUsedAt: this.#leasedUntil, memoryBytes: this.#memoryBytes };
  }

  async #evict(): Promise<void> {
    const { hurriedGraceMs } = this.#parts.timing;
    await this.#mutex.run(() => this.#stop("another server needed its place", hurriedGraceMs, 0));
  }

  async #startInPlace(): Promise<void> {
    const { deploymentId, record, places } = this.#parts;
    const opened = await this.#open();
    // Told to end while it waited.
    if (this.#closed) throw new RunnerError("stopping", "The runner is shutting down.", { retryAfterMs: 1000 });
    const context = { ...opened, memoryBytes: opened.server.limits.memoryBytes };
    const instance = Instance.starting(context, record, { deploymentId, restarts: this.#backOff.failures });
    this.#instance = instance;
    this.#memoryBytes = null;
    this.#canFreeze = true;
    const failure = await launch(instance, opened, this.#parts);
    if (failure !== null) throw this.#startFailed(instance, failure);
    this.#watch(instance);
    // A start has ended, and what it really uses is known: another one may begin.
    await this.measure();
    places.settle();
  }

  #watch(instance: Instance): void {
    void instance.handle?.exited.then((exit) => this.#exited(instance, exit));
  }

  async #waitBackOff(): Promise<void> {
    const wait = this.#backOff.remaining(performance.now());
    if (wait > maxHeldBackOffMs)
      throw new RunnerError("crash_backoff", `The server keeps failing: ${this.#lastFailure}.`, { retryAfterMs: wait });
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }

  async #open(): Promise<OpenedDeployment> {
    try {
      return await this.#parts.open();
    } catch (error) {
      if (error instanceof DeploymentUnusable) throw new RunnerError("start_failed", error.message);
      throw error;
    }
  }

  #startFailed(instance: Instance, { code, reason, exit }: LaunchFailure): RunnerError {
    if (this.#instance === instance) this.#instance = null;
    const wait = this.#backOff.failed(performance.now(), 0);
    const words = instance.didNotStart(reason, exit);
    this.#lastFailure = words.replace(/\.$/, "");
    if (code === "isolation_unavailable") return new RunnerError(code, words);
    return new RunnerError(code, `The server did not start: ${words}`, { retryAfterMs: wait });
  }

  #exited(instance: Instance, exit: Exit): void {
    if (this.#instance !== instance || instance.state === "stopping") return;
    this.#gone(instance);
    const now = performance.now();
    const wait = this.#backOff.failed(now, instance.readyForMs);
    this.#lastFailure = instance.crashed(exit, wait);
    // Whoever leases it is waiting for it. An unused one is started by its next request.
    if (now >= this.#leasedUntil || this.#closed) return;
    this.#restart = setTimeout(() => void this.#obtain().catch(() => {}), wait);
    this.#restart.unref();
  }

  async #freeze(): Promise<void> {
    const instance = this.#instance;
    if (instance?.handle == null || instance.state !== "ready") return;
    if (this.idleMs(performance.now()) < this.#parts.timing.freezeAfterMs) return;
    this.#canFreeze = await instance.handle.freeze();
    if (this.#canFreeze && this.#instance === instance) instance.become("frozen");
  }

  async #stop(reason: string, graceMs: number, unlessLeasedWithinMs: number | null): Promise<void> {
    const instance = this.#instance;
    if (instance?.handle == null) return;
    if (unlessLeasedWithinMs !== null && this.idleMs(performance.now()) < unlessLeasedWithinMs) return;
    instance.become("stopping");
    const exit = await instance.handle.stop(graceMs);
    this.#gone(instance);
    instance.stopped(reason, exit);
  }

  #gone(instance: Instance): void {
    if (this.#instance !== instance) return;
    this.#instance = null;
    this.#parts.places.release(this.#parts.deploymentId);
  }
}
