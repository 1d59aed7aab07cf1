/** How long the terminal waits for an instance, in milliseconds. */
export type TimeLimits = {
  /** For an answer that only reads. */
  readonly readMs: number;
  /** For an answer after a change: some wait until a server has started. */
  readonly changeMs: number;
  /** Without a byte of a stream. Instances send something every 15 seconds. */
  readonly silenceMs: number;
};

export const timeLimits: TimeLimits = { readMs: 30_000, changeMs: 240_000, silenceMs: 60_000 };

/** `fetch` ends with this when a limit has passed. */
export const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === "TimeoutError";

/** After this process was paused, by a pager for example, bytes that arrived meanwhile are read before it aborts. */
const graceMs = 1_000;

/** Aborts `signal` when `restart` hasn't been called for `maxMs`. Call `end` in any case. */
export function silenceLimit(maxMs: number) {
  const controller = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  const abort = () => controller.abort(new DOMException("Nothing came.", "TimeoutError"));
  const timer = setTimeout(() => {
    grace = setTimeout(abort, graceMs);
  }, maxMs);
  const end = () => {
    clearTimeout(timer);
    clearTimeout(grace);
  };
  const restart = () => {
    clearTimeout(grace);
    timer.refresh();
  };
  return { signal: controller.signal, restart, end };
}
