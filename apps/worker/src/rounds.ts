/**
 * Runs `round` at once and then every `everyMs`, never twice at the same time. Returns a function that stops it: it
 * aborts the signal of a running round and waits for its end.
 */
export function startRounds(
  everyMs: number,
  round: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  let idle = true;
  const run = () => {
    if (!idle) return;
    idle = false;
    running = round(stopping.signal)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) onError(error);
      })
      .finally(() => {
        idle = true;
      });
  };
  run();
  const timer = setInterval(run, everyMs);
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await running;
  };
}
