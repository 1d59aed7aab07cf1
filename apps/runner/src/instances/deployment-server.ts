import { type Exit, type RuntimeDriver, SandboxError } from "@towpath/runtime";
import type { InstanceTiming } from "../config.ts";
import { DeploymentUnusable } from "../deployments/server-of-deployment.ts";
import { type BackOff, createBackOff } from "./back-off.ts";
import type { InstanceState } from "./instance.state.ts";
import { Instance, type OpenedDeployment } from "./instance.ts";
import type { InstanceRecord } from "./instance-record.ts";
import { LeaseError } from "./lease-error.ts";
import { Turns } from "./turns.ts";
import { startFailureWords } from "./words.ts";

export type DeploymentServerParts = {
  readonly deploymentId: string;
  readonly driver: RuntimeDriver;
  readonly timing: InstanceTiming;
  readonly record: InstanceRecord;
  /** Throws LeaseError `not_found` or DeploymentUnusable. */
  readonly open: () => Promise<OpenedDeployment>;
  /** Makes room for one more instance; throws LeaseError `capacity`. */
  readonly reserve: () => Promise<void>;
  readonly socketDirectory: (instanceId: string) => string;
  /** Told of errors of the platform, for its own log: the public gets a text without their detail. */
  readonly onError: (error: unknown) => void;
};

export type LeaseGrant = {
  readonly instanceId: string;
  readonly socketPath: string;
  readonly leaseMs: number;
  readonly state: "started" | "woken" | "ready";
  readonly waitedMs: number;
};

/** Those whose messages are written for people. The others quote paths of the host and what its programs said. */
const hostsFaults: ReadonlySet<string> = new Set(["isolation_unavailable", "network_unavailable"]);
const sandboxFailed = "its sandbox could not be set up. Try again; if it stays, ask the operator.";

/** A wait for the next start that a request is held for; above it the request is told to come back. */
const longestHeldBackOffMs = 1000;

/**
 * The server of one deployment: at most one instance, started by the first lease, frozen and stopped when nobody
 * leases it (RUN-3), started again with growing waits when it crashes (RUN-6).
 *
 * Starting, freezing, waking and stopping happen one at a time. A lease is noted before it waits for its turn, and
 * freezing and stopping look at it in their turn: so a leased instance is never frozen.
 */
export class DeploymentServer {
  readonly #parts: DeploymentServerParts;
  readonly #backOff: BackOff;
  #instance: Instance | null = null;
  #canFreeze = true;
  /** By the monotonic clock, as all of the runner's waits: a wall clock that jumps must end no lease. */
  #leasedUntil = 0;
  readonly #turns = new Turns();
  #obtaining: Promise<LeaseGrant["state"]> | null = null;
  #lastFailure = "";
  #restart: NodeJS.Timeout | undefined;
  #closed = false;
  #isStarting = false;

  constructor(parts: DeploymentServerParts) {
    this.#parts = parts;
    this.#backOff = createBackOff(parts.timing);
  }

  /** Starts or wakes the instance when needed and keeps it for `leaseMs`. Concurrent calls share one start. */
  async lease(): Promise<LeaseGrant> {
    const asked = performance.now();
    this.#extendLease(asked);
    const state = this.#isIdleReady() ? "ready" : await this.#obtain();
    const instance = this.#instance;
    const socketPath = instance?.handle?.socketPath;
    if (instance === null || socketPath === undefined)
      throw new LeaseError("start_failed", "The server ended while it was asked for.", 0);
    const now = performance.now();
    this.#extendLease(now);
    return { instanceId: instance.id, socketPath, leaseMs: this.#parts.timing.leaseMs, state, waitedMs: now - asked };
  }

  /** Freezes or stops what has been unleased for long enough. Called again and again. */
  tick(now: number): void {
    const instance = this.#instance;
    if (instance === null || this.#turns.isBusy) return;
    const { freezeAfterMs, stopAfterMs, stopGraceMs } = this.#parts.timing;
    const idle = this.idleMs(now);
    if (idle >= stopAfterMs) void this.#turns.take(() => this.#stop("it was not used", stopGraceMs, stopAfterMs));
    else if (instance.state === "ready" && this.#canFreeze && idle >= freezeAfterMs)
      void this.#turns.take(() => this.#freeze());
  }

  /** Stops the instance whatever leases there are. `hurried`: somebody waits for it, so it gets less time. */
  async stop(reason: string, hurried = false): Promise<void> {
    clearTimeout(this.#restart);
    const { stopGraceMs, hurriedGraceMs } = this.#parts.timing;
    await this.#turns.take(() => this.#stop(reason, hurried ? hurriedGraceMs : stopGraceMs, null));
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

  /** Whether it takes a place among the running servers: an instance exists or is about to. */
  get takesPlace(): boolean {
    return this.#isStarting || this.#instance !== null;
  }

  get state(): InstanceState | null {
    return this.#instance?.state ?? null;
  }

  /** Whether it can be forgotten: nothing runs, nothing waits, no failure to remember. */
  isForgettable(now: number): boolean {
    const quiet = this.#instance === null && !this.#turns.isBusy && this.#obtaining === null;
    return quiet && this.#backOff.remaining(now) === 0 && this.idleMs(now) > this.#parts.timing.backOffLongestMs;
  }

  async describe() {
    const instance = this.#instance;
    if (instance === null) return null;
    return {
      ...(await instance.describe()),
      deploymentId: this.#parts.deploymentId,
      leasedUntil: new Date(Date.now() - this.idleMs(performance.now())).toISOString(),
      failures: this.#backOff.failures,
    };
  }

  #extendLease(now: number): void {
    this.#leasedUntil = Math.max(this.#leasedUntil, now + this.#parts.timing.leaseMs);
  }

  #isIdleReady(): boolean {
    return this.#instance?.state === "ready" && !this.#turns.isBusy;
  }

  #obtain(): Promise<LeaseGrant["state"]> {
    this.#obtaining ??= this.#turns
      .take(() => this.#readyInTurn())
      .finally(() => {
        this.#obtaining = null;
      });
    return this.#obtaining;
  }

  async #readyInTurn(): Promise<LeaseGrant["state"]> {
    const instance = this.#instance;
    if (instance?.state === "ready") return "ready";
    if (instance?.state === "frozen" && instance.handle !== null) {
      await instance.handle.wake();
      // It may have been ended meanwhile.
      if (this.#instance === instance) {
        instance.become("ready");
        return "woken";
      }
    }
    this.#isStarting = true;
    try {
      await this.#start();
      return "started";
    } finally {
      this.#isStarting = false;
    }
  }

  async #start(): Promise<void> {
    const { deploymentId, driver, record, timing } = this.#parts;
    if (this.#closed) throw new LeaseError("start_failed", "The runner is shutting down.", 1000);
    await this.#waitBackOff();
    await this.#parts.reserve();
    const opened = await this.#open();
    const instance = new Instance(opened, record, { deploymentId, restarts: this.#backOff.failures });
    this.#instance = instance;
    this.#canFreeze = true;
    try {
      const result = await driver.start(
        {
          instanceId: instance.id,
          sandbox: opened.sandbox,
          socketDirectory: this.#parts.socketDirectory(instance.id),
          startTimeoutMs: timing.startTimeoutMs,
        },
        instance.output(),
      );
      if (!result.ok) {
        const reason = startFailureWords(result, timing.startTimeoutMs, instance.memoryLimit);
        throw this.#startFailed(instance, reason, result.exit);
      }
      instance.ready(result.handle, result.startMs);
      void result.handle.exited.then((exit) => this.#exited(instance, exit));
    } catch (error) {
      if (error instanceof LeaseError) throw error;
      this.#parts.onError(error);
      const isHostsFault = error instanceof SandboxError && hostsFaults.has(error.code);
      const failure = this.#startFailed(instance, isHostsFault ? error.message : sandboxFailed, null);
      throw isHostsFault ? new LeaseError("isolation_unavailable", error.message) : failure;
    }
  }

  async #waitBackOff(): Promise<void> {
    const wait = this.#backOff.remaining(performance.now());
    if (wait > longestHeldBackOffMs)
      throw new LeaseError("crash_backoff", `The server keeps failing: ${this.#lastFailure}.`, wait);
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }

  async #open(): Promise<OpenedDeployment> {
    try {
      return await this.#parts.open();
    } catch (error) {
      if (error instanceof DeploymentUnusable) throw new LeaseError("start_failed", error.message);
      throw error;
    }
  }

  #startFailed(instance: Instance, reason: string, exit: Exit | null): LeaseError {
    if (this.#instance === instance) this.#instance = null;
    const wait = this.#backOff.failed(performance.now(), 0);
    const words = instance.didNotStart(reason, exit);
    this.#lastFailure = words.replace(/\.$/, "");
    return new LeaseError("start_failed", `The server did not start: ${words}`, wait);
  }

  #exited(instance: Instance, exit: Exit): void {
    if (this.#instance !== instance || instance.state === "stopping") return;
    this.#instance = null;
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
    if (this.#instance === instance) this.#instance = null;
    instance.stopped(reason, exit);
  }
}
