export type RestartLimits = {
  /** First pause after a start that failed; doubles with each further one, up to the longest. Milliseconds. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** A process that was ready for this long counts as started, whatever ended it. */
  readonly settledAfterMs: number;
};

export const defaultRestartLimits: RestartLimits = { firstPauseMs: 500, maxPauseMs: 15_000, settledAfterMs: 5_000 };

export type UnaskedEnd = {
  /** How long it had been ready, milliseconds; null when it ended before. */
  readonly readyForMs: number | null;
  /** The signal that ended it, null when it ended by itself. */
  readonly signal: NodeJS.Signals | null;
};

/** Signals sent from outside, by people or the out-of-memory killer. A crash raises other ones. */
const outsideSignals: ReadonlySet<string> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);

/**
 * How long to wait before restarting a process that ended unexpectedly. One that ran and was killed restarts at once,
 * however often that happens, because its users are waiting. Only one that fails to start, or soon after, gets growing
 * pauses.
 */
export class RestartPauses {
  readonly #limits: RestartLimits;
  #nextMs: number;

  constructor(limits: RestartLimits = defaultRestartLimits) {
    this.#limits = limits;
    this.#nextMs = limits.firstPauseMs;
  }

  after({ readyForMs, signal }: UnaskedEnd): number {
    const wasKilled = signal !== null && outsideSignals.has(signal);
    if (readyForMs !== null && (wasKilled || readyForMs >= this.#limits.settledAfterMs)) {
      this.#nextMs = this.#limits.firstPauseMs;
      return 0;
    }
    // Killed while it started: no sign that it could not. The pause bounds what a machine without memory loses by it.
    if (wasKilled) return this.#limits.firstPauseMs;
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(pauseMs * 2, this.#limits.maxPauseMs);
    return pauseMs;
  }
}

/** For people: "at once", or "in 0.5 s". */
export const inWords = (pauseMs: number) => (pauseMs === 0 ? "at once" : `in ${pauseMs / 1000} s`);
