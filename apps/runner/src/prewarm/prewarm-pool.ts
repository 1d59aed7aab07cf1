import type { PrewarmReport } from "@towpath/runner-api";
import type { InstanceSpec, OutputSink, Prewarmed, PrewarmSpec, ServerDriver, StartResult } from "@towpath/runtime";
import { DemandRecord, type Kind, kindName, type ServerIdentity } from "./demand.ts";
import { planPrewarm } from "./plan.ts";

export type PrewarmPoolParts = {
  readonly driver: Pick<ServerDriver, "start" | "prewarm">;
  /** Upper limit for all interpreters, bytes; 0: none are prewarmed. */
  readonly maxBytes: number;
  /** How long one waits for a server that was used and doesn't run, milliseconds: idle servers must cost nothing. */
  readonly keepMs: number;
  /** Memory that servers leave for interpreters now, bytes. */
  readonly freeBytes: () => number;
  /** Whether servers are starting: they come first. */
  readonly isBusy: () => boolean;
  /** Assumed memory of one that has not been measured, bytes. */
  readonly assumedBytes: number;
  readonly startTimeoutMs: number;
  /** Which of these deployments still exist. */
  readonly existing: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly onError: (error: unknown) => void;
};

type Waiting = { readonly kind: string; readonly prewarmed: Prewarmed; readonly bytes: number };

/** Share of a processor for imports ahead of time, so that running servers are hardly affected. */
const prewarmCpus = 0.5;
const balanceMs = 1000;
const reconcileMs = 60_000;
/** Pause before a kind whose interpreter failed or died is retried; one that can't work pauses for an hour. */
const retryMs = 60_000;
const finalMs = 3_600_000;

/**
 * Interpreters that have imported the frameworks of a dependency layer and wait, frozen, for a server of their
 * organization (decision 024). Each becomes one server. Without one, or if it doesn't fit, servers start as usual.
 */
export class PrewarmPool {
  readonly #parts: PrewarmPoolParts;
  readonly #demand: DemandRecord;
  readonly #waiting: Waiting[] = [];
  readonly #blocked = new Map<string, { readonly until: number; readonly reason: "unsuitable" | "failed" }>();
  readonly #misses = new Map<string, number>();
  readonly #unforked = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  #hits = 0;
  #died = 0;
  #filling: Promise<void> | null = null;
  #closed = false;

  constructor(parts: PrewarmPoolParts) {
    this.#parts = parts;
    this.#demand = new DemandRecord(parts.keepMs);
    if (parts.maxBytes === 0) return;
    this.#timers.push(setInterval(() => this.balance(), balanceMs).unref());
    this.#timers.push(setInterval(() => void this.#forgetDeleted().catch(() => {}), reconcileMs).unref());
  }

  /** Starts a server, from a waiting interpreter if possible. Throws what the driver's `start` throws. */
  async start(server: ServerIdentity, spec: InstanceSpec, onOutput: OutputSink): Promise<StartResult> {
    const { driver, maxBytes } = this.#parts;
    // A waiting sandbox can't get another directory.
    if (maxBytes === 0 || spec.server.dataVolume !== undefined) return await driver.start(spec, onOutput);
    const kind = { organizationId: server.organizationId, server: spec.server };
    const use = this.#demand.used(server, kind);
    // It takes memory: others may have to make room.
    this.balance();
    const result = (await this.#claim(kind, spec, onOutput)) ?? (await driver.start(spec, onOutput));
    if (result.ok) {
      use.started();
      void result.handle.exited.then(() => use.ended());
    }
    return result;
  }

  /** A server of this kind was in use at that time (Date), for example before this runner started. */
  expect(server: ServerIdentity, kind: Kind["server"], at: Date): void {
    this.#demand.used(server, { organizationId: server.organizationId, server: kind }, at.getTime());
  }

  /** Digests of the dependency layers that waiting interpreters use. */
  layersInUse(): string[] {
    return this.#waiting.flatMap(({ kind }) => this.#demand.kind(kind)?.server.layers.dependencies ?? []);
  }

  report(): PrewarmReport {
    return {
      ready: this.#waiting.length,
      memoryBytes: this.#memoryBytes(),
      maxMemoryBytes: this.#parts.maxBytes,
      hits: this.#hits,
      misses: Object.fromEntries(this.#misses),
      died: this.#died,
    };
  }

  /** Ends surplus interpreters, and starts missing ones: one at a time, while nothing else starts. */
  balance(): void {
    if (this.#closed || this.#parts.maxBytes === 0) return;
    const { maxBytes, freeBytes, assumedBytes, isBusy } = this.#parts;
    const plan = planPrewarm(this.#demand.demands(assumedBytes), Math.max(0, Math.min(maxBytes, freeBytes())));
    const kept = new Map<string, number>();
    for (const each of [...this.#waiting]) {
      const count = (kept.get(each.kind) ?? 0) + 1;
      if (count > (plan.get(each.kind) ?? 0)) this.#end(each);
      else kept.set(each.kind, count);
    }
    if (this.#filling !== null || isBusy()) return;
    const isMissing = ([kind, count]: readonly [string, number]) =>
      (kept.get(kind) ?? 0) < count && (this.#blocked.get(kind)?.until ?? 0) <= performance.now();
    const [name] = [...plan].find(isMissing) ?? [];
    const kind = name === undefined ? undefined : this.#demand.kind(name);
    if (kind === undefined) return;
    this.#filling = this.#fill(kind).finally(() => {
      this.#filling = null;
      this.balance();
    });
  }

  /** Ends all; none are started afterwards. The driver ends those that are starting. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#waiting.splice(0).map(({ prewarmed }) => prewarmed.end()));
  }

  /** Null if the server must start as usual. */
  async #claim(kind: Kind, spec: InstanceSpec, onOutput: OutputSink): Promise<StartResult | null> {
    const name = kindName(kind);
    const index = this.#waiting.findIndex((each) => each.kind === name);
    const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
    const reason = this.#blocked.get(name)?.reason ?? "none_ready";
    try {
      const found = waiting?.prewarmed ?? (await this.#forked(kind));
      if (found === null) return this.#missed(reason);
      const result = await found.claim(kind.organizationId, spec, onOutput);
      if ("obstacle" in result) return this.#missed(result.obstacle);
      // It ended without a reason: perhaps because of its earlier life.
      if (!result.ok && result.cause === "exited") return this.#missed("ended");
      if (result.ok && result.prewarm !== "used") this.#missed(result.prewarm ?? "ended");
      else this.#hits += 1;
      return result;
    } catch (error) {
      this.#parts.onError(error);
      return this.#missed("ended");
    }
  }

  /** One more than wait, in a moment, if the driver can fork it from those; null otherwise. */
  async #forked(kind: Kind): Promise<Prewarmed | null> {
    const result = await this.#parts.driver.prewarm({ ...this.#specOf(kind), onlyForked: true });
    return result.ok ? result.prewarmed : null;
  }

  /** Once for each kind, for the operator: its servers take more memory and time than they could. */
  #reportForks(kind: string, reason: string): void {
    if (this.#unforked.has(kind)) return;
    this.#unforked.add(kind);
    this.#parts.onError(new Error(`Interpreters of this layer are not forked: ${reason}`));
  }

  #missed(reason: string): null {
    this.#misses.set(reason, (this.#misses.get(reason) ?? 0) + 1);
    return null;
  }

  #specOf({ organizationId, server: { layers, pythonVersion, network, limits } }: Kind): PrewarmSpec {
    return {
      organizationId,
      dependencies: layers.dependencies,
      pythonVersion,
      network,
      limits: { ...limits, cpus: Math.min(limits.cpus, prewarmCpus) },
      startTimeoutMs: this.#parts.startTimeoutMs,
    };
  }

  async #fill(kind: Kind): Promise<void> {
    const { driver, onError } = this.#parts;
    const name = kindName(kind);
    try {
      const result = await driver.prewarm(this.#specOf(kind));
      if (result.ok) {
        if (result.withoutForks !== undefined) this.#reportForks(name, result.withoutForks);
        await this.#add(name, result.prewarmed);
      } else if (result.isFinal) this.#block(name, "unsuitable", finalMs);
      else this.#block(name, "failed", retryMs);
    } catch (error) {
      this.#block(name, "failed", retryMs);
      if (!this.#closed) onError(error);
    }
  }

  async #add(kind: string, prewarmed: Prewarmed): Promise<void> {
    const bytes = (await prewarmed.memoryBytes()) ?? this.#parts.assumedBytes;
    if (this.#closed) return await prewarmed.end();
    this.#demand.measured(kind, bytes);
    this.#blocked.delete(kind);
    const waiting = { kind, prewarmed, bytes };
    this.#waiting.push(waiting);
    void prewarmed.ended.then(() => {
      const index = this.#waiting.indexOf(waiting);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      this.#died += 1;
      this.#block(kind, "failed", retryMs);
    });
  }

  #block(kind: string, reason: "unsuitable" | "failed", ms: number): void {
    this.#blocked.set(kind, { until: performance.now() + ms, reason });
  }

  async #forgetDeleted(): Promise<void> {
    const ids = this.#demand.deploymentIds();
    if (ids.length === 0) return;
    const existing = await this.#parts.existing(ids);
    this.#demand.forget(ids.filter((id) => !existing.has(id)));
  }

  #end(waiting: Waiting): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    waiting.prewarmed.end().catch(this.#parts.onError);
  }

  #memoryBytes(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}
