/** Work that a process repeats. */
export type Round = {
  /** For the log of failures: "… failed". */
  readonly name: string;
  readonly everyMs: number;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
};

type OnError = (name: string, error: unknown) => void;

/**
 * Runs each round at once and then every `everyMs`, never overlapping itself. Returns a function that stops all: it
 * aborts the signals of running rounds and waits for their end.
 */
export function startRounds(rounds: readonly Round[], onError: OnError): () => Promise<void> {
  const stops = rounds.map((round) => startRound(round, onError));
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

function startRound({ name, everyMs, run }: Round, onError: OnError): () => Promise<void> {
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
  start();
  const timer = setInterval(start, everyMs);
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await running;
  };
}
