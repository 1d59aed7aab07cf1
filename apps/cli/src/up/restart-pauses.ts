export type RestartLimits = {
  /** Pause after the first failed start; doubles with each further one, up to `maxPauseMs`. Milliseconds. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** A process that was ready for this long counts as started, however it ended. */
  readonly settledAfterMs: number;
};

export const defaultRestartLimits: RestartLimits = { firstPauseMs: 500, maxPauseMs: 15_000, settledAfterMs: 5_000 };

export type UnexpectedExit = {
  /** How long it had been ready, milliseconds; null when it ended before. */
  readonly readyForMs: number | null;
  /** The signal that killed it; null when it exited. */
  readonly signal: NodeJS.Signals | null;
};

/** Signals sent from outside, by people or the out-of-memory killer. A crash raises other ones. */
const outsideSignals: ReadonlySet<string> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);

/**
 * How long to wait before restarting a process that ended unexpectedly. A running process that was killed restarts at
 * once, always, because its users are waiting. Only a process that fails at the start, or soon after, gets growing
 * pauses.
 */
export class RestartPauses {
  readonly #limits: RestartLimits;
  #nextMs: number;

  constructor(limits: RestartLimits = defaultRestartLimits) {
    this.#limits = limits;
    this.#nextMs = limits.firstPauseMs;
  }

  after({ readyForMs, signal }: UnexpectedExit): number {
    const wasKilled = signal !== null && outsideSignals.has(signal);
    if (readyForMs !== null && (wasKilled || readyForMs >= this.#limits.settledAfterMs)) {
      this.#nextMs = this.#limits.firstPauseMs;
      return 0;
    }
    // Killed while starting: that doesn't mean it can't start. The pause keeps a machine without memory from spinning.
    if (wasKilled) return this.#limits.firstPauseMs;
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(pauseMs * 2, this.#limits.maxPauseMs);
    return pauseMs;
  }
}

/** "now", or "in 0.5 s". */
export const describePause = (pauseMs: number) => (pauseMs === 0 ? "now" : `in ${pauseMs / 1000} s`);
