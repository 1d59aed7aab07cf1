import { type LeasedInstance, partsOf, RunnerError } from "@towpath/runner-api";
import type { Exit } from "@towpath/runtime";
import type { Seat } from "../places/places.ts";
import { type BackOff, createBackOff } from "./back-off.ts";
import { Instance } from "./instance.ts";
import { type LaunchFailure, launch, openOrRefuse, startInterrupted } from "./launch.ts";
import { Mutex } from "./mutex.ts";
import type { Adoption, DeploymentServerParts, ServerOwner } from "./server-parts.ts";
import { reportEnd, reportFailedStart } from "./start-refusal.ts";

/** The work for a call, and the time that it took. */
type Obtained = Pick<LeasedInstance, "state" | "spent" | "shown">;

/** Requests wait for a back-off up to this long; beyond that, the answer says when to retry. */
const maxHeldBackOffMs = 1000;

/**
 * The server of one deployment, or a caller's own: at most one instance, started by the first lease, frozen and stopped
 * without a lease (RUN-3), restarted with back-off when it crashes (RUN-6).
 *
 * A mutex serializes starting, freezing, waking and stopping. A lease is recorded before it waits for the mutex, and
 * freezing and stopping check it while they hold the mutex, so a leased instance is never frozen.
 */
export class DeploymentServer {
  readonly #parts: DeploymentServerParts;
  readonly #backOff: BackOff;
  #instance: Instance | null = null;
  /** See `OpenedDeployment`; of the running instance. */
  #valuesStamp: string | null = null;
  #memoryBytes: number | null = null;
  #canFreeze = true;
  /** By the monotonic clock, so that a jump of the wall clock ends no lease. */
  #leasedUntil = 0;
  readonly #mutex = new Mutex();
  #obtaining: Promise<Obtained> | null = null;
  #last: { readonly failure: string; readonly lost: (() => RunnerError) | null } = { failure: "", lost: null };
  #restart: NodeJS.Timeout | undefined;
  /** Null until it is closed. */
  #closedFor: string | null = null;

  constructor(parts: DeploymentServerParts) {
    this.#parts = parts;
    this.#backOff = createBackOff(parts.timing);
  }

  /** Starts or wakes the instance when needed and keeps it for `leaseMs`. Concurrent calls share one start. */
  async lease(): Promise<LeasedInstance> {
    const start = performance.now();
    this.#extendLease(start);
    const obtained = (await this.#isIdleReady()) ? ({ state: "ready" } as const) : await this.#obtain();
    const instance = this.#instance;
    const endpoint = instance?.handle?.endpoint;
    if (instance === null || endpoint === undefined)
      throw new RunnerError("ended", "The server ended during the request.", { retryAfterMs: 0 });
    const now = performance.now();
    const leaseMs = this.#extendLease(now);
    return { instanceId: instance.id, endpoint, leaseMs, ...obtained, waitedMs: now - start };
  }

  /** Stops an instance that was started with other values of its caller than these. `stamp`: see `OpenedDeployment`. */
  async stopUnlessStarted(stamp: string): Promise<void> {
    if (this.#instance === null || this.#valuesStamp === stamp) return;
    await this.#mutex.run(async () => {
      if (this.#valuesStamp === stamp) return;
      await this.#stop("its caller changed a value", this.#parts.timing.hurriedGraceMs, null);
    });
  }

  /**
   * Continues with an instance of an earlier runner, whose leases are unknown: a running instance counts as leased just
   * now, a frozen one as without a lease since now.
   */
  adopt({ instance, owner, valuesStamp, failures }: Omit<Adoption, "server">): void {
    this.#instance = instance;
    this.#valuesStamp = valuesStamp;
    this.#leasedUntil = performance.now() + (instance.state === "frozen" ? 0 : this.#parts.timing.leaseMs);
    this.#backOff.restore(failures);
    this.#parts.places.hold(this.#seat(owner));
    this.#watch(instance);
  }

  /** Freezes or stops the instance if it has had no lease for long enough. Call it periodically. */
  tick(now: number): void {
    const instance = this.#instance;
    if (instance === null || this.#mutex.isLocked) return;
    const { freezeAfterMs, stopAfterMs, stopGraceMs } = this.#parts.timing;
    const idle = this.idleMs(now);
    if (idle >= stopAfterMs) void this.#mutex.run(() => this.#stop("it was not used", stopGraceMs, stopAfterMs));
    else if (instance.state === "ready" && this.#canFreeze && idle >= freezeAfterMs)
      void this.#mutex.run(() => this.#freeze());
  }

  /** Stops the instance, even if it is leased. `hurried`: with the shorter grace period. */
  async stop(reason: string, hurried = false): Promise<void> {
    clearTimeout(this.#restart);
    const { stopGraceMs, hurriedGraceMs } = this.#parts.timing;
    this.#parts.places.cancel(
      this.#parts.server,
      new RunnerError(this.#closedFor !== null ? "stopping" : "start_failed", `Not started: ${reason}.`, {
        retryAfterMs: 1000,
      }),
    );
    await this.#mutex.run(() => this.#stop(reason, hurried ? hurriedGraceMs : stopGraceMs, null));
  }

  /** Stops the instance if it has had no lease for a while, though shorter than for one that may be called again. */
  async stopUnneeded(reason: string): Promise<void> {
    const { stopGraceMs, unneededAfterMs } = this.#parts.timing;
    if (this.idleMs(performance.now()) < unneededAfterMs) return;
    await this.#mutex.run(() => this.#stop(reason, stopGraceMs, unneededAfterMs));
  }

  /** Like a hurried `stop`, and refuses to start again. */
  async close(reason: string): Promise<void> {
    this.#closedFor = reason;
    await this.stop(reason, true);
  }

  /** Milliseconds since the last lease ended; negative while leased. */
  idleMs(now: number): number {
    return now - this.#leasedUntil;
  }

  /** Measures its memory, for the placement and for the dashboard. */
  async measure(): Promise<void> {
    const instance = this.#instance;
    const memoryBytes = (await instance?.memoryBytes()) ?? null;
    if (this.#instance !== instance) return;
    this.#memoryBytes = memoryBytes;
    if (memoryBytes !== null) instance?.measured(memoryBytes);
  }

  /** Whether it can be dropped: nothing runs or waits, and there is no back-off. */
  isForgettable(now: number): boolean {
    const quiet = this.#instance === null && !this.#mutex.isLocked && this.#obtaining === null;
    return quiet && this.#backOff.remaining(now) === 0 && this.idleMs(now) > this.#parts.timing.maxBackOffMs;
  }

  async describe() {
    const instance = this.#instance;
    if (instance === null || (await instance.isDead())) return null;
    return {
      ...(await instance.describe()),
      ...partsOf(this.#parts.server),
      leasedUntil: new Date(Date.now() - this.idleMs(performance.now())).toISOString(),
      failures: this.#backOff.failures,
    };
  }

  /** Returns the duration: short while starts wait for a place, so that unused leases expire soon. */
  #extendLease(now: number): number {
    const { leaseMs, contendedLeaseMs } = this.#parts.timing;
    const granted = this.#parts.places.isContended ? Math.min(leaseMs, contendedLeaseMs) : leaseMs;
    this.#leasedUntil = Math.max(this.#leasedUntil, now + granted);
    return granted;
  }

  /** Ready, alive, and no operation is in progress. */
  async #isIdleReady(): Promise<boolean> {
    const instance = this.#instance;
    if (instance?.state !== "ready" || this.#mutex.isLocked || (await instance.isDead())) return false;
    return this.#instance === instance && instance.state === "ready" && !this.#mutex.isLocked;
  }

  #obtain(): Promise<Obtained> {
    this.#obtaining ??= this.#mutex
      .run(() => this.#readyLocked())
      .finally(() => {
        this.#obtaining = null;
      });
    return this.#obtaining;
  }

  async #readyLocked(): Promise<Obtained> {
    const begun = performance.now();
    const instance = this.#instance;
    const wasFrozen = instance?.state === "frozen";
    if (wasFrozen) await instance.wake();
    // It may end at any moment.
    if (instance !== null && this.#instance === instance) {
      if (wasFrozen) instance.woken(performance.now() - begun);
      // A crash counts once its exit has been reported.
      if (await instance.isDead()) await instance.handle?.exited;
      else if (this.#instance === instance)
        return wasFrozen ? { state: "woken", spent: { wakeMs: performance.now() - begun } } : { state: "ready" };
    }
    const spent = await this.#start();
    // Before the mutex is released: a stop that waits for it must find the lease.
    this.#extendLease(performance.now());
    const shown = this.#instance?.takeShown();
    return { state: "started", ...(spent && { spent }), ...(shown && { shown }) };
  }

  async #start(): Promise<Obtained["spent"]> {
    const { server, places } = this.#parts;
    const begun = performance.now();
    await this.#waitBackOff();
    const owner = await this.#parts.owner();
    if (this.#closedFor !== null)
      throw new RunnerError("stopping", "The runner is shutting down.", { retryAfterMs: 1000 });
    await places.take(this.#seat(owner));
    const placedAt = performance.now();
    try {
      await this.#startInPlace(owner);
      return { placeMs: placedAt - begun, startMs: performance.now() - placedAt };
    } catch (error) {
      places.release(server);
      throw error;
    }
  }

  #seat(owner: ServerOwner): Seat {
    return { server: this.#parts.server, ...owner, look: () => this.#look(), evict: () => this.#evict() };
  }

  #look(): ReturnType<Seat["look"]> {
    const state = this.#instance?.state;
    const phase = state === "ready" || state === "frozen" || state === "stopping" ? state : "starting";
    const isLeased = this.idleMs(performance.now()) < 0 || this.#obtaining !== null;
    return { phase, isLeased, lastUsedAt: this.#leasedUntil, memoryBytes: this.#memoryBytes };
  }

  async #evict(): Promise<void> {
    await this.#mutex.run(() => this.#stop("another server needed its place", this.#parts.timing.hurriedGraceMs, 0));
  }

  async #startInPlace({ organizationId }: ServerOwner): Promise<void> {
    const { server, record, places } = this.#parts;
    const opened = await openOrRefuse(this.#parts.open);
    // Closed while it waited.
    if (this.#closedFor !== null)
      throw new RunnerError("stopping", "The runner is shutting down.", { retryAfterMs: 1000 });
    const context = { ...opened, limits: opened.server.limits };
    const instance = Instance.starting(context, record, { ...partsOf(server), restarts: this.#backOff.failures });
    this.#instance = instance;
    this.#valuesStamp = opened.valuesStamp ?? null;
    this.#memoryBytes = null;
    this.#canFreeze = true;
    const failure = await launch(instance, opened, { organizationId, ...partsOf(server) }, this.#parts);
    if (failure !== null) throw this.#startFailed(instance, failure);
    this.#watch(instance);
    // The start has ended and its memory is known, so another start may begin.
    await this.measure();
    places.settle();
  }

  #watch(instance: Instance): void {
    void instance.handle?.exited.then((exit) => this.#exited(instance, exit));
  }

  async #waitBackOff(): Promise<void> {
    const wait = this.#backOff.remaining(performance.now());
    if (wait > 0 && this.#last.lost) throw this.#last.lost();
    if (wait > maxHeldBackOffMs)
      throw new RunnerError("crash_backoff", `The server keeps failing: ${this.#last.failure}.`, {
        retryAfterMs: wait,
      });
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }

  #startFailed(instance: Instance, failure: LaunchFailure): RunnerError {
    if (this.#instance === instance) this.#instance = null;
    // The driver has been closed too, and ends starting servers.
    if (this.#closedFor !== null || failure.code === "ended" || failure.code === "unavailable") {
      instance.startStopped(this.#closedFor ?? failure.reason, failure.exit);
      return startInterrupted(this.#closedFor !== null, failure);
    }
    const failed = reportFailedStart(instance, failure, this.#backOff.failed(performance.now(), 0));
    this.#last = failed;
    return failed.refusal;
  }

  #exited(instance: Instance, exit: Exit): void {
    if (this.#instance !== instance || instance.state === "stopping") return;
    this.#gone(instance);
    const now = performance.now();
    // A server that keeps ending itself by such a signal must not restart as often; the shim's end doesn't count.
    const wait = exit.reason === "platform-ended" ? 0 : this.#backOff.failed(now, instance.readyForMs);
    this.#last = { failure: reportEnd(instance, exit, wait), lost: null };
    // Restart it only while it is leased; otherwise the next request starts it.
    if (now >= this.#leasedUntil || this.#closedFor !== null) return;
    if (exit.reason === "platform-ended") this.#parts.startAgain();
    else this.#restart = setTimeout(() => void this.#obtain().catch(() => {}), wait).unref();
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
    this.#parts.places.release(this.#parts.server);
  }
}
