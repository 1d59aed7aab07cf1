import { newId } from "@towpath/core/ids";
import { type Exit, type InstanceHandle, type RuntimeDriver, SandboxError, type SandboxSpec } from "@towpath/runtime";
import type { InstanceTiming } from "../config.ts";
import { DeploymentUnusable } from "../deployments/server-of-deployment.ts";
import { type BackOff, createBackOff } from "./back-off.ts";
import type { InstanceState } from "./instance.state.ts";
import type { InstanceRecord } from "./instance-record.ts";
import { LeaseError } from "./lease-error.ts";
import type { ServerLog } from "./server-log.ts";
import { exitWords, startFailureWords } from "./words.ts";

/** What is needed to start a deployment's server, read anew at each start. */
export type OpenedDeployment = { readonly sandbox: SandboxSpec; readonly log: ServerLog };

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
};

export type LeaseGrant = {
  readonly instanceId: string;
  readonly socketPath: string;
  readonly leaseMs: number;
  readonly state: "started" | "woken" | "ready";
  readonly waitedMs: number;
};

type Instance = {
  readonly id: string;
  readonly log: ServerLog;
  readonly memoryLimit: number;
  readonly startedAt: number;
  state: InstanceState;
  handle: InstanceHandle | null;
  readyAt: number | null;
  canFreeze: boolean;
};

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
  #leasedUntil = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
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
    const asked = Date.now();
    this.#extendLease(asked);
    const state = this.#isIdleReady() ? "ready" : await this.#obtain();
    const instance = this.#instance;
    if (instance?.handle == null) throw new LeaseError("start_failed", "The server ended while it was asked for.", 0);
    const now = Date.now();
    this.#extendLease(now);
    const { socketPath } = instance.handle;
    return { instanceId: instance.id, socketPath, leaseMs: this.#parts.timing.leaseMs, state, waitedMs: now - asked };
  }

  /** Freezes or stops what has been unleased for long enough. Called again and again. */
  tick(now: number): void {
    const instance = this.#instance;
    if (instance === null || this.#waiting > 0) return;
    const { freezeAfterMs, stopAfterMs } = this.#parts.timing;
    const idle = now - this.#leasedUntil;
    if (idle >= stopAfterMs) void this.#inTurn(() => this.#stop("it was not used", stopAfterMs));
    else if (instance.state === "ready" && instance.canFreeze && idle >= freezeAfterMs)
      void this.#inTurn(() => this.#freeze());
  }

  /** Stops the instance whatever leases there are. */
  async stop(reason: string): Promise<void> {
    clearTimeout(this.#restart);
    await this.#inTurn(() => this.#stop(reason, null));
  }

  /** Like `stop`, and nothing starts again. */
  async close(reason: string): Promise<void> {
    this.#closed = true;
    await this.stop(reason);
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
    const quiet = this.#instance === null && this.#waiting === 0 && this.#obtaining === null;
    return quiet && this.#backOff.remaining(now) === 0 && this.idleMs(now) > this.#parts.timing.backOffLongestMs;
  }

  async describe() {
    const instance = this.#instance;
    if (instance === null) return null;
    return {
      id: instance.id,
      deploymentId: this.#parts.deploymentId,
      state: instance.state,
      startedAt: new Date(instance.startedAt).toISOString(),
      readyAt: instance.readyAt === null ? null : new Date(instance.readyAt).toISOString(),
      leasedUntil: new Date(this.#leasedUntil).toISOString(),
      memoryBytes: (await instance.handle?.memoryBytes()) ?? null,
      failures: this.#backOff.failures,
    };
  }

  #extendLease(now: number): void {
    this.#leasedUntil = Math.max(this.#leasedUntil, now + this.#parts.timing.leaseMs);
  }

  #isIdleReady(): boolean {
    return this.#instance?.state === "ready" && this.#waiting === 0;
  }

  #inTurn<Result>(action: () => Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    const result = this.#turn.then(action).finally(() => {
      this.#waiting -= 1;
    });
    this.#turn = result.catch(() => {});
    return result;
  }

  #obtain(): Promise<LeaseGrant["state"]> {
    this.#obtaining ??= this.#inTurn(() => this.#readyInTurn()).finally(() => {
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
        this.#change(instance, "ready");
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
    const startedAt = Date.now();
    const instance: Instance = {
      id: newId(startedAt),
      log: opened.log,
      memoryLimit: opened.sandbox.limits.memoryBytes,
      startedAt,
      state: "starting",
      handle: null,
      readyAt: null,
      canFreeze: true,
    };
    this.#instance = instance;
    record.started({
      id: instance.id,
      deploymentId,
      startedAt: new Date(startedAt),
      restarts: this.#backOff.failures,
    });
    try {
      const result = await driver.start(
        {
          instanceId: instance.id,
          sandbox: opened.sandbox,
          socketDirectory: this.#parts.socketDirectory(instance.id),
          startTimeoutMs: timing.startTimeoutMs,
        },
        opened.log.output(instance.id),
      );
      if (!result.ok)
        throw this.#startFailed(
          instance,
          startFailureWords(result, timing.startTimeoutMs, instance.memoryLimit),
          result.exit,
        );
      instance.handle = result.handle;
      this.#change(instance, "ready");
      opened.log.platform(instance.id, "info", `Started in ${Math.round(result.startMs)} ms.`);
      void result.handle.exited.then((exit) => this.#exited(instance, exit));
    } catch (error) {
      if (error instanceof LeaseError) throw error;
      const failure = this.#startFailed(instance, error instanceof Error ? error.message : String(error), null);
      throw error instanceof SandboxError ? new LeaseError("isolation_unavailable", error.message) : failure;
    }
  }

  async #waitBackOff(): Promise<void> {
    const wait = this.#backOff.remaining(Date.now());
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
    const wait = this.#backOff.failed(Date.now(), 0);
    this.#lastFailure = reason.replace(/\.$/, "");
    this.#end(instance, "crashed", reason, exit);
    instance.log.platform(instance.id, "error", `The server did not start: ${reason}`);
    return new LeaseError("start_failed", `The server did not start: ${reason}`, wait);
  }

  #exited(instance: Instance, exit: Exit): void {
    if (this.#instance !== instance || instance.state === "stopping") return;
    this.#instance = null;
    const now = Date.now();
    const reason = exitWords(exit, instance.memoryLimit);
    const wait = this.#backOff.failed(now, now - (instance.readyAt ?? now));
    this.#lastFailure = reason;
    this.#end(instance, "crashed", reason, exit);
    instance.log.platform(
      instance.id,
      "error",
      `The server crashed: ${reason}. It may start again in ${Math.ceil(wait / 1000)} s.`,
    );
    // Whoever leases it is waiting for it. An unused one is started by its next request.
    if (now >= this.#leasedUntil || this.#closed) return;
    this.#restart = setTimeout(() => void this.#obtain().catch(() => {}), wait);
    this.#restart.unref();
  }

  async #freeze(): Promise<void> {
    const instance = this.#instance;
    if (instance?.handle == null || instance.state !== "ready") return;
    if (this.idleMs(Date.now()) < this.#parts.timing.freezeAfterMs) return;
    instance.canFreeze = await instance.handle.freeze();
    if (instance.canFreeze && this.#instance === instance) this.#change(instance, "frozen");
  }

  async #stop(reason: string, unlessLeasedWithinMs: number | null): Promise<void> {
    const instance = this.#instance;
    if (instance?.handle == null) return;
    if (unlessLeasedWithinMs !== null && this.idleMs(Date.now()) < unlessLeasedWithinMs) return;
    this.#change(instance, "stopping");
    const exit = await instance.handle.stop(this.#parts.timing.stopGraceMs);
    if (this.#instance === instance) this.#instance = null;
    this.#end(instance, "stopped", reason, exit);
    instance.log.platform(instance.id, "info", `Stopped: ${reason}.`);
  }

  #change(instance: Instance, state: "ready" | "frozen" | "stopping"): void {
    instance.state = state;
    const first = state === "ready" && instance.readyAt === null;
    if (first) instance.readyAt = Date.now();
    this.#parts.record.changed(instance.id, { state, ...(first ? { readyAt: new Date() } : {}) });
  }

  #end(instance: Instance, state: "stopped" | "crashed", reason: string, exit: Exit | null): void {
    instance.state = state;
    this.#parts.record.changed(instance.id, {
      state,
      endedAt: new Date(),
      endReason: reason,
      exitCode: exit?.code ?? null,
    });
  }
}
