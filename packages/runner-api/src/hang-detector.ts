import { setTimeout as sleep } from "node:timers/promises";

const pauseMs = 500;
const healthWithinMs = 2000;

/**
 * Tells a runner that hangs from one that takes its time: a start may take a minute, a health check may not. While
 * calls are under way, health is checked beside them; when it does not answer, the calls are aborted.
 */
export class HangDetector {
  readonly #checkHealth: (signal: AbortSignal) => Promise<unknown>;
  readonly #calls = new Set<AbortController>();
  #isWatching = false;

  constructor(checkHealth: (signal: AbortSignal) => Promise<unknown>) {
    this.#checkHealth = checkHealth;
  }

  /** Runs a call with a signal that aborts when the runner hangs. */
  async during<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#calls.add(controller);
    if (!this.#isWatching) void this.#watch();
    try {
      return await call(controller.signal);
    } finally {
      this.#calls.delete(controller);
    }
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    // Most calls are answered within the first pause and cost no check.
    for (await pause(); this.#calls.size > 0; await pause()) {
      const waiting = [...this.#calls];
      if (await this.#hangs()) for (const call of waiting) call.abort();
    }
    this.#isWatching = false;
  }

  async #hangs(): Promise<boolean> {
    const timeout = AbortSignal.timeout(healthWithinMs);
    try {
      await this.#checkHealth(timeout);
      return false;
    } catch {
      // Any other failure reaches the calls by itself.
      return timeout.aborted;
    }
  }
}

const pause = () => sleep(pauseMs, undefined, { ref: false });
