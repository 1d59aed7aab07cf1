/** Work that a process repeats. */
export type Round = {
  /** For the log of failures: "… failed". */
  readonly name: string;
  readonly everyMs: number;
  /** Runs first after `everyMs`, instead of at once. */
  readonly isDelayed?: boolean;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
};

type OnError = (name: string, error: unknown) => void;

/**
 * Runs each round at once, unless it is delayed, and then every `everyMs`, never twice at the same time. Returns a
 * function that stops them all: it aborts the signals of running ones and waits for their end.
 */
export function startRounds(rounds: readonly Round[], onError: OnError): () => Promise<void> {
  const stops = rounds.map((round) => startRound(round, onError));
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

function startRound({ name, everyMs, isDelayed = false, run }: Round, onError: OnError): () => Promise<void> {
  const stopping = new AbortController();
  let running: Promise<unknown> | null = null;
  const start = () => {
    running ??= run(stopping.signal)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) onError(name, error);
      })
      .finally(() => {
        running = null;
      });
  };
  if (!isDelayed) start();
  const timer = setInterval(start, everyMs);
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await running;
  };
}
