import type { CallResponse } from "../call/states.ts";
import { GatewayError } from "../gateway-error.ts";

/** First and longest pause between two attempts to reach a server. */
const firstPauseMs = 20;
const maxPauseMs = 500;

/**
 * Limits how long one request waits for its server in total, and paces its attempts. Clients fail on an error and don't
 * retry, so the gateway waits as long as nothing of the request has been sent.
 */
export class Backoff {
  readonly #holdMs: number;
  readonly #response: CallResponse;
  readonly #gauge: { held: number };
  readonly #deadline: number;
  #pauseMs = firstPauseMs;
  #lastError: GatewayError | null = null;
  /** Time waited so far, milliseconds. */
  heldMs = 0;

  /** `gauge.held` counts the requests that wait now. */
  constructor(holdMs: number, parts: { response: CallResponse; gauge: { held: number } }) {
    this.#holdMs = holdMs;
    this.#deadline = performance.now() + holdMs;
    this.#response = parts.response;
    this.#gauge = parts.gauge;
  }

  /**
   * Waits for a start that other requests may share. Null when the client disconnects; the start goes on.
   *
   * @throws GatewayError 504, or the error of an earlier attempt, when the time is up first; else the start's error
   */
  async waitFor<T>(start: Promise<T>): Promise<T | null> {
    const { promise: settled, resolve, reject } = Promise.withResolvers<T | null>();
    const leave = () => resolve(null);
    const from = performance.now();
    const timer = setTimeout(() => reject(this.#tooLong()), Math.max(0, this.#deadline - from));
    this.#response.once("close", leave);
    this.#gauge.held++;
    start.then(resolve, reject);
    try {
      return await settled;
    } finally {
      clearTimeout(timer);
      this.#response.off("close", leave);
      this.#gauge.held--;
      this.heldMs += performance.now() - from;
    }
  }

  /**
   * Waits before the next attempt: as long as `refusal` says, else a little longer each time.
   *
   * @throws `refusal` at once when waiting would not help or take too long: the client should learn the reason now, not
   * in a minute
   */
  async beforeRetry(refusal: GatewayError): Promise<void> {
    if (refusal.waitMs === null) throw refusal;
    this.#lastError = refusal;
    const pauseMs = Math.max(refusal.waitMs, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, maxPauseMs);
    if (performance.now() + pauseMs > this.#deadline) throw refusal;
    await this.waitFor(new Promise((resolve) => setTimeout(resolve, pauseMs).unref()));
  }

  /** After failed attempts, their reason is more useful than the time-out. */
  #tooLong(): GatewayError {
    if (this.#lastError) return this.#lastError;
    const seconds = Math.round(this.#holdMs / 1000);
    return new GatewayError(
      "start_timeout",
      `The server has not started within ${seconds} s. Its log in the dashboard may say why.`,
      { "retry-after": "5" },
      null,
      "timeout",
    );
  }
}
