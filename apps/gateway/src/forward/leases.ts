import { isOfCaller, type RunnerClient, RunnerError, type ServerKey, type ServerState } from "@towpath/runner-api";
import { type TraceContext, traceparentOf } from "@towpath/telemetry";
import { type Lease, leaseOf } from "./instance-lease.ts";
import { type Entry, newEntry } from "./lease-entry.ts";
import { asleep, refused, runnerUnreachable } from "./runner-refusals.ts";
import { type SavedLease, SavedLeases } from "./saved-leases.ts";
import { alreadyRunning, startOf } from "./start-attempts.ts";
import { answersPing, type Upstreams } from "./upstreams.ts";

/** A lease is not used shortly before it expires: the request must reach the server while it is valid. */
const marginMs = 500;
/** Without a runner nothing is frozen or stopped, so recently running servers stay usable for a while (GW-10). */
const defaultWithoutRunnerMs = 3_600_000;
const withoutRunnerRetryMs = 1000;

/**
 * Leases of instances, one per server, shared by all requests. A valid lease costs no call; it is renewed in the
 * background while requests are in flight or have come since it was requested, else it lapses.
 */
export class Leases {
  readonly #entries = new Map<string, Entry>();
  readonly #runner: RunnerClient;
  readonly #upstreams: Upstreams;
  readonly #withoutRunnerMs: number;
  /** The last call to the runner failed: until one succeeds, requests don't wait for it. */
  #isRunnerUnreachable = false;
  /** When the runner last answered: until then it may have frozen servers without a lease. */
  #runnerAnsweredAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  /** Leases of earlier and other processes of this gateway, for when the runner is unreachable. */
  readonly #saved: SavedLeases;
  #version = 0;

  constructor(parts: { runner: RunnerClient; upstreams: Upstreams; withoutRunnerMs?: number }) {
    this.#runner = parts.runner;
    this.#upstreams = parts.upstreams;
    this.#withoutRunnerMs = parts.withoutRunnerMs ?? defaultWithoutRunnerMs;
    this.#saved = new SavedLeases(this.#withoutRunnerMs);
  }

  /** Leases of other processes, and where they come from. */
  get saved(): SavedLeases {
    return this.#saved;
  }

  /** Changes when there is another instance to save. */
  get version(): number {
    return this.#version;
  }

  /** What another process needs to reach the same servers while the runner is unreachable. */
  save(): SavedLease[] {
    const now = performance.now();
    const own = [...this.#entries.values()].map(({ lease }) => lease);
    return this.#saved.withOwn(
      own.filter((lease) => this.#isUsableWithoutRunner(lease, now)),
      now,
    );
  }

  /**
   * The lease for a request, at once when there is a valid one. Concurrent calls share one call to the runner. Call
   * `requestStarted` before and `requestEnded` after, so that it is kept for as long as the request takes.
   *
   * @param trace of the request, if it is traced: a start that it causes is part of it
   * @throws GatewayError as the runner's answer says
   */
  acquire(server: ServerKey, trace: TraceContext | null = null): Lease | Promise<Lease> {
    const entry = this.#entry(server);
    const now = performance.now();
    entry.usedAt = now;
    if (!entry.lease || entry.lease.validUntil - marginMs <= now) {
      const renewal = this.#renew(server, entry, trace);
      if (!this.#isRunnerUnreachable || !this.#isUsableWithoutRunner(entry.lease, now)) return renewal;
      renewal.catch(() => {});
      if (entry.awakeAt > this.#runnerAnsweredAt) return entry.lease;
      return this.#useIfAwake(entry, entry.lease, renewal);
    }
    // A stream that starts in the second half must not outlive its lease.
    if (entry.isIdle) this.#renew(server, entry).catch(() => {});
    return entry.lease;
  }

  /**
   * Whether this instance still runs, or with null any instance of the server. Starts nothing.
   *
   * @throws GatewayError when neither the runner nor a lease can say
   */
  async isRunning(server: ServerKey, instanceId: string | null): Promise<boolean> {
    const isMeant = (lease: { readonly instanceId: string }) => instanceId === null || lease.instanceId === instanceId;
    const lease = this.#entries.get(server)?.lease;
    const isValid = lease && (this.#isRunnerUnreachable || lease.validUntil - marginMs > performance.now());
    if (isValid) return isMeant(lease);
    try {
      if (instanceId === null) return (await this.#runner.state(server)) !== "stopped";
      return await this.#runner.isRunning(server, instanceId);
    } catch (error) {
      if (!(error instanceof RunnerError)) throw error;
      if (error.code !== "unreachable") throw refused(error);
      const known = lease ?? (await this.#saved.find(server));
      if (known) return isMeant(known);
      throw runnerUnreachable(error);
    }
  }

  /**
   * The state of a server. Starts and wakes nothing. `ready` if unknown: the request to the server will
   * show what is wrong.
   */
  async stateOf(server: ServerKey): Promise<ServerState> {
    const entry = this.#entries.get(server);
    const lease = entry?.lease ?? null;
    const now = performance.now();
    if (lease && lease.validUntil - marginMs > now) return "ready";
    try {
      return await this.#runner.state(server);
    } catch (error) {
      if (!(error instanceof RunnerError)) throw error;
      if (error.code !== "unreachable") return "ready";
      // It may have been stopped before.
      const isUsable = entry !== undefined && this.#isUsableWithoutRunner(lease, now);
      return isUsable && (await this.#isAwake(entry, lease, now)) ? "ready" : "stopped";
    }
  }

  /** Drops a lease that turned out to be invalid; the next `acquire` asks the runner. */
  invalidate(lease: Lease): void {
    const entry = this.#entries.get(lease.server);
    if (entry?.lease !== lease) return;
    this.#setLease(entry, null);
  }

  /** A caller, or null: any of them, may have changed a value: the runner is asked before the next call of theirs. */
  callerChanged(callerId: string | null): void {
    for (const [server, entry] of this.#entries) {
      if (!isOfCaller(server, callerId)) continue;
      if (entry.lease) this.invalidate(entry.lease);
      // What the runner was asked before may have begun with the earlier value.
      entry.pending = null;
    }
    this.#saved.forgetCaller(callerId);
  }

  requestStarted(server: ServerKey): void {
    this.#entry(server).inFlight++;
  }

  requestEnded(server: ServerKey): void {
    const entry = this.#entry(server);
    entry.inFlight--;
    this.#removeIfUnused(server, entry);
  }

  get count(): number {
    return this.#entries.size;
  }

  stop(): void {
    this.#stopped = true;
    for (const entry of this.#entries.values()) clearTimeout(entry.timer);
  }

  #entry(server: ServerKey): Entry {
    let entry = this.#entries.get(server);
    if (!entry) {
      entry = newEntry();
      this.#entries.set(server, entry);
    }
    return entry;
  }

  #renew(server: ServerKey, entry: Entry, trace: TraceContext | null = null): Promise<Lease> {
    if (entry.pending) return entry.pending;
    const asked: Promise<Lease> = this.#ask(server, entry, trace)
      .then((lease) => {
        if (entry.pending === asked) return lease;
        // Its caller changed a value meanwhile: once more.
        this.invalidate(lease);
        return this.#renew(server, entry, trace);
      })
      .finally(() => {
        if (entry.pending === asked) entry.pending = null;
        this.#removeIfUnused(server, entry);
      });
    entry.pending = asked;
    return asked;
  }

  async #ask(server: ServerKey, entry: Entry, trace: TraceContext | null): Promise<Lease> {
    // The runner counts from its response, we from our request: ours expires first, however long the response takes.
    const askedAt = performance.now();
    entry.isIdle = false;
    try {
      const leased = await this.#runner.ensure(server, trace ? { traceparent: traceparentOf(trace) } : {});
      const { instanceId, endpoint, leaseMs } = leased;
      this.#runnerAnswered(true);
      const upstream = this.#upstreams.at(endpoint);
      const validUntil = askedAt + leaseMs;
      const lease = leaseOf(server, { instanceId, endpoint, upstream, validUntil, start: startOf(leased) });
      this.#setLease(entry, lease);
      this.#schedule(server, entry, askedAt, leaseMs / 2);
      return lease;
    } catch (error) {
      const lapsed = entry.lease;
      if (!(error instanceof RunnerError)) throw error;
      this.#runnerAnswered(error.code !== "unreachable");
      if (error.code === "unreachable") {
        if (!this.#isUsableWithoutRunner(lapsed, askedAt)) return await this.#useSaved(server, entry, error);
        this.#schedule(server, entry, askedAt, withoutRunnerRetryMs);
        if (await this.#isAwake(entry, lapsed, askedAt)) return lapsed;
        throw asleep(error);
      }
      this.#setLease(entry, null);
      clearTimeout(entry.timer);
      if (entry.inFlight > 0) this.#schedule(server, entry, askedAt, withoutRunnerRetryMs);
      throw refused(error);
    }
  }

  /** Detecting that a runner hangs takes seconds; a server that is awake answers at once. */
  async #useIfAwake(entry: Entry, lease: Lease, renewal: Promise<Lease>): Promise<Lease> {
    return (await this.#isAwake(entry, lease, performance.now())) ? lease : renewal;
  }

  /** @throws GatewayError when there is none, or its server does not answer */
  async #useSaved(server: ServerKey, entry: Entry, error: RunnerError): Promise<Lease> {
    this.#setLease(entry, null);
    const saved = await this.#saved.find(server);
    if (!saved) throw runnerUnreachable(error);
    const { instanceId, endpoint } = saved;
    const upstream = this.#upstreams.at(endpoint);
    if (!(await answersPing(upstream, endpoint))) {
      this.#upstreams.retire(endpoint);
      throw asleep(error);
    }
    const { validUntil } = saved;
    const lease = leaseOf(server, { instanceId, endpoint, upstream, validUntil, start: alreadyRunning });
    entry.awakeAt = performance.now();
    this.#setLease(entry, lease);
    this.#schedule(server, entry, entry.awakeAt, withoutRunnerRetryMs);
    return lease;
  }

  #runnerAnswered(hasAnswered: boolean): void {
    this.#isRunnerUnreachable = !hasAnswered;
    if (hasAnswered) this.#runnerAnsweredAt = performance.now();
  }

  /**
   * Whether a server is known not to be frozen while the runner is unreachable. Its lease was valid when the runner
   * stopped answering, or it answers a ping: the runner may have frozen it before.
   */
  async #isAwake(entry: Entry, lease: Lease, askedAt: number): Promise<boolean> {
    const isKnown = askedAt < lease.validUntil || entry.awakeAt > this.#runnerAnsweredAt;
    if (!isKnown && !(await answersPing(lease.upstream, lease.endpoint))) return false;
    entry.awakeAt = performance.now();
    return true;
  }

  #isUsableWithoutRunner(lease: Lease | null, now: number): lease is Lease {
    return lease !== null && now - lease.validUntil < this.#withoutRunnerMs;
  }

  /** Drops entries without a lease and their connections, so that redeployments leave nothing behind. */
  #removeIfUnused(server: ServerKey, entry: Entry): void {
    if (entry.inFlight > 0 || entry.lease || entry.pending || this.#entries.get(server) !== entry) return;
    clearTimeout(entry.timer);
    this.#entries.delete(server);
  }

  #setLease(entry: Entry, lease: Lease | null): void {
    const previous = entry.lease;
    entry.lease = lease;
    if (previous?.instanceId !== lease?.instanceId) this.#version++;
    // Requests on the old connections finish there.
    if (previous && previous.upstream !== lease?.upstream) {
      this.#upstreams.retire(previous.endpoint);
      if (entry.inFlight > 0) entry.former.dropped(previous);
    }
    if (lease) entry.former.replacedBy(lease);
  }

  #schedule(server: ServerKey, entry: Entry, askedAt: number, afterMs: number): void {
    clearTimeout(entry.timer);
    if (this.#stopped) return;
    entry.timer = setTimeout(() => {
      if (entry.inFlight > 0 || entry.usedAt > askedAt) {
        this.#renew(server, entry).catch(() => {});
        return;
      }
      this.#scheduleLapse(server, entry);
    }, afterMs);
    entry.timer.unref();
  }

  /** Unused in its first half: drop the lease and its connections once it has expired. */
  #scheduleLapse(server: ServerKey, entry: Entry): void {
    entry.isIdle = true;
    const remaining = (entry.lease?.validUntil ?? 0) - performance.now() + this.#withoutRunnerMs;
    entry.timer = setTimeout(
      () => {
        this.#setLease(entry, null);
        this.#removeIfUnused(server, entry);
      },
      Math.max(0, remaining),
    );
    entry.timer.unref();
  }
}
