import { setTimeout as sleep } from "node:timers/promises";
import { isOfCaller, partsOf, type ServerKey } from "@towpath/runner-api";
import { createBoundedRedactor, type Redactor, unchanged } from "@towpath/secrets/redaction";
import type { Logger } from "pino";
import type { ReadVariables } from "../read-model/variables.ts";

/** How long the first requests to a deployment wait for its variables behind others that are loading. */
const queueTimeoutMs = 2000;
/** The same while the database hangs. */
const hangingTimeoutMs = 250;
/** The same once the database has been queried: a slow answer is waited for. */
const queryTimeoutMs = 5000;
const retryMs = 2000;
/** For all deployments together, in a gateway with one worker. */
const maxBytes = 64 * 1024 * 1024;
/** For one deployment: twice what 64 KiB of text need. */
const maxBytesOfOne = 24 * 1024 * 1024;
/** Loading takes at most this share of the process's processor time, in slices, so that it doesn't slow down other requests. */
const maxBusyPart = 0.2;
/** The load that a failure counts as: retries during an outage must not slow down the process. */
const failureMs = 5;
const sweepMs = 60_000;
const forgetAfterMs = 60 * 60_000;

type Entry = {
  redactor: Redactor | null;
  /** performance.now() of its first and its latest request, and before which loading isn't retried. */
  readonly firstAt: number;
  usedAt: number;
  retryAt: number;
  loading: Promise<void> | null;
};

type Parts = {
  read: ReadVariables;
  /** The deployments that labels lead to. */
  routed: () => ReadonlySet<string>;
  /** This process's share of the bound. */
  share: number;
  log: Logger;
  /** For tests. */
  now?: () => number;
  processorMs?: () => number;
  sleep?: (ms: number) => Promise<unknown>;
};

const unreferencedSleep = (ms: number) => sleep(ms, undefined, { ref: false });

function processorMsOfThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Removes the values of variables from rows of the request log (KEY-4), for each called server. Values are read off
 * the path of requests, one server after the other, and dropped after an hour without a request, a minute after the
 * last one if no label leads to the deployment any more, and when others need the room.
 */
export class Redactors {
  readonly #entries = new Map<ServerKey, Entry>();
  readonly #parts: Parts;
  readonly #now: () => number;
  readonly #processorMs: () => number;
  readonly #sleep: (ms: number) => Promise<unknown>;
  readonly #sweepTimer: NodeJS.Timeout;
  #queue: Promise<void> = Promise.resolve();
  /** A query for a deployment's variables is running. */
  #isReading = false;
  /** The query exceeded its time-out and has not answered since. */
  #isHanging = false;
  #isStopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
    this.#processorMs = parts.processorMs ?? processorMsOfThread;
    this.#sleep = parts.sleep ?? unreferencedSleep;
    this.#sweepTimer = setInterval(() => this.sweep(), sweepMs).unref();
  }

  /** The server's redactor; null while its variables are unknown, which starts loading them. */
  find(server: ServerKey | null): Redactor | null {
    // Only deployments have variables.
    if (server === null) return unchanged;
    const now = this.#now();
    let entry = this.#entries.get(server);
    if (!entry) {
      entry = { redactor: null, firstAt: now, usedAt: now, retryAt: 0, loading: null };
      this.#entries.set(server, entry);
    }
    entry.usedAt = now;
    if (entry.redactor === null && entry.loading === null && now >= entry.retryAt) this.#load(server, entry);
    return entry.redactor;
  }

  /**
   * The same, after a wait if the server's first request has just arrived. A hanging database delays the requests
   * to one server for long, not those to every one.
   */
  async wait(server: ServerKey): Promise<Redactor | null> {
    const known = this.find(server);
    const entry = this.#entries.get(server);
    if (known !== null || !entry?.loading) return known;
    await this.#waitForFirst(entry);
    // Its caller may have changed a value meanwhile.
    return this.#entries.get(server) === entry ? entry.redactor : this.find(server);
  }

  /** The same for a refused request: uses what others have loaded, but loads nothing. */
  async waitIfAsked(server: ServerKey | null): Promise<Redactor | null> {
    if (server === null) return unchanged;
    const entry = this.#entries.get(server);
    if (!entry) return null;
    return await this.#waitForFirst(entry);
  }

  /** Drops what is no longer needed. */
  sweep(): void {
    const now = this.#now();
    const routed = this.#parts.routed();
    for (const [server, { usedAt, loading }] of this.#entries) {
      const idleMs = now - usedAt;
      if (loading !== null || idleMs < sweepMs) continue;
      if (idleMs >= forgetAfterMs || !routed.has(partsOf(server).deploymentId)) this.#entries.delete(server);
    }
  }

  /** A caller, or null: any of them, may have changed a value. */
  callerChanged(callerId: string | null): void {
    for (const server of this.#entries.keys()) if (isOfCaller(server, callerId)) this.#entries.delete(server);
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#sweepTimer);
    this.#entries.clear();
  }

  async #waitForFirst(entry: Entry): Promise<Redactor | null> {
    await this.#waitFor(entry, this.#isHanging ? hangingTimeoutMs : queueTimeoutMs);
    if (this.#isReading && !this.#isHanging) {
      await this.#waitFor(entry, queryTimeoutMs);
      this.#isHanging ||= this.#isReading && entry.loading !== null;
    }
    return entry.redactor;
  }

  /** Waits until an entry is loaded, or this long after its first request. */
  async #waitFor(entry: Entry, maxMs: number): Promise<void> {
    const leftMs = entry.firstAt + maxMs - this.#now();
    if (entry.loading !== null && leftMs > 0) await Promise.race([entry.loading, this.#sleep(leftMs)]);
  }

  #load(server: ServerKey, entry: Entry): void {
    entry.loading = this.#queue
      .then(() => this.#loadNow(server, entry))
      .then((spentMs) => {
        entry.loading = null;
        const pauseMs = spentMs / maxBusyPart - spentMs;
        this.#queue = this.#queue.then(async () => void (pauseMs >= 1 && (await this.#sleep(pauseMs))));
      });
    this.#queue = entry.loading;
  }

  /** Returns for how many milliseconds of processor time it kept the process busy, at most. Never rejects. */
  async #loadNow(server: ServerKey, entry: Entry): Promise<number> {
    if (this.#isStopped) return 0;
    const { read, log } = this.#parts;
    this.#isReading = true;
    try {
      const values = await read(server);
      this.#isReading = false;
      this.#isHanging = false;
      const before = this.#processorMs();
      entry.redactor = values && (await createBoundedRedactor(values, maxBytesOfOne));
      if (values && entry.redactor === null)
        log.warn({ server }, "its variables are too large to be searched for; request logs withhold texts");
      entry.retryAt = this.#now() + (values ? forgetAfterMs : retryMs);
      this.#makeRoom(entry);
      // Not by the clock: on a busy machine most of it is others' time.
      return this.#processorMs() - before;
    } catch (error) {
      entry.retryAt = this.#now() + retryMs;
      log.debug({ err: error, server }, "variables can't be read; request logs withhold texts");
      return failureMs;
    } finally {
      this.#isReading = false;
    }
  }

  #makeRoom(kept: Entry): void {
    const maxHere = Math.max(maxBytesOfOne, maxBytes * this.#parts.share);
    let bytes = [...this.#entries.values()].reduce((sum, { redactor }) => sum + (redactor?.bytes ?? 0), 0);
    const others = [...this.#entries].filter(([, entry]) => entry !== kept && (entry.redactor?.bytes ?? 0) > 0);
    for (const [server, { redactor }] of others.sort(([, a], [, b]) => a.usedAt - b.usedAt)) {
      if (bytes <= maxHere) return;
      bytes -= redactor?.bytes ?? 0;
      this.#entries.delete(server);
    }
  }
}
