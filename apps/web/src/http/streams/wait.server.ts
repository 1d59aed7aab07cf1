/** A wait that a notification, a time limit or an abort ends, and that forgets no wake-up that came before it. */
export function wakeable(signal: AbortSignal) {
  let woken = false;
  let resume: (() => void) | undefined;
  const wake = () => {
    woken = true;
    resume?.();
  };
  signal.addEventListener("abort", wake);
  return {
    wake,
    /** False when the time ran out. */
    async wait(maxMs: number): Promise<boolean> {
      if (!woken && !signal.aborted) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((done) => {
          resume = done;
          timer = setTimeout(done, maxMs);
        });
        clearTimeout(timer);
        resume = undefined;
      }
      const wasWoken = woken;
      woken = false;
      return wasWoken;
    },
  };
}
