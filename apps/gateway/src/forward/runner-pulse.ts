import { setTimeout as sleep } from "node:timers/promises";

const pauseMs = 500;
const answerWithinMs = 2000;

/**
 * Tells a runner that hangs from one that takes its time: a start may take a minute, a health page may not. While
 * calls are under way the page is asked for beside them; when it does not come, the calls are given up.
 */
export class RunnerPulse {
  readonly #askHealth: (signal: AbortSignal) => Promise<unknown>;
  readonly #calls = new Set<AbortController>();
  #isBeating = false;

  constructor(askHealth: (signal: AbortSignal) => Promise<unknown>) {
    this.#askHealth = askHealth;
  }

  /** Runs a call with a signal that aborts when the runner hangs. */
  async during<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#calls.add(controller);
    if (!this.#isBeating) void this.#beat();
    try {
      return await call(controller.signal);
    } finally {
      this.#calls.delete(controller);
    }
  }

  async #beat(): Promise<void> {
    this.#isBeating = true;
    // Most calls are answered within the first pause and cost no question.
    for (await pause(); this.#calls.size > 0; await pause()) {
      const waiting = [...this.#calls];
      if (await this.#hangs()) for (const call of waiting) call.abort();
    }
    this.#isBeating = false;
  }

  async #hangs(): Promise<boolean> {
    const timeout = AbortSignal.timeout(answerWithinMs);
    try {
      await this.#askHealth(timeout);
      return false;
    } catch {
      // Any other failure is the calls' own too.
      return timeout.aborted;
    }
  }
}

const pause = () => sleep(pauseMs, undefined, { ref: false });
