import type { Readable } from "node:stream";

const windowMs = 100;
const bytesPerWindow = 1024 * 1024;

/** Limits the rate at which a pipe is read, so that a flood leaves time for others. The writer then waits a little. */
export class Throttle {
  readonly #pipe: Readable;
  readonly #mayResume: () => boolean;
  #windowStart = Number.NEGATIVE_INFINITY;
  #windowBytes = 0;

  /** `mayResume`: false while the pipe is paused for another reason, which then ends the pause. */
  constructor(pipe: Readable, mayResume: () => boolean) {
    this.#pipe = pipe;
    this.#mayResume = mayResume;
  }

  count(bytes: number): void {
    const now = performance.now();
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now;
      this.#windowBytes = 0;
    }
    this.#windowBytes += bytes;
    if (this.#windowBytes < bytesPerWindow) return;
    this.#pipe.pause();
    setTimeout(() => this.#mayResume() && this.#pipe.resume(), this.#windowStart + windowMs - now);
  }
}
