import { setTimeout as sleep } from "node:timers/promises";

const pauseMs = 500;
const healthTimeoutMs = 2000;

/**
 * Distinguishes a hanging runner from a slow start, which may take a minute. During calls it also checks the runner's
 * health, and aborts the calls if that doesn't answer.
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
    // Most calls are answered within the first pause, without a check.
    for (await pause(); this.#calls.size > 0; await pause()) {
      const waiting = [...this.#calls];
      if (await this.#hangs()) for (const call of waiting) call.abort();
    }
    this.#isWatching = false;
  }

  async #hangs(): Promise<boolean> {
    const timeout = AbortSignal.timeout(healthTimeoutMs);
    try {
      await this.#checkHealth(timeout);
      return false;
    } catch {
      // The calls get any other failure themselves.
      return timeout.aborted;
    }
  }
}

const pause = () => sleep(pauseMs, undefined, { ref: false });
