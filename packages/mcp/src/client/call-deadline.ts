/** A time limit that pauses while a person is asked. `signal` aborts when the time is up, or with `parent`. */
export class CallDeadline {
  readonly signal: AbortSignal;
  readonly #expired = new AbortController();
  #leftMs: number;
  #startedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauses = 0;

  constructor(limitMs: number, parent: AbortSignal) {
    this.#leftMs = limitMs;
    this.signal = AbortSignal.any([parent, this.#expired.signal]);
    this.#start();
  }

  /** Runs `work` outside the limit. */
  async pausedFor<T>(work: () => Promise<T>): Promise<T> {
    if (this.#pauses === 0) this.#stop();
    this.#pauses += 1;
    try {
      return await work();
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#start();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#expired.abort(), Math.max(0, this.#leftMs));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#startedAt;
  }
}
