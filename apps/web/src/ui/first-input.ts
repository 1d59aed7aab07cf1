/** What comes before any click or typed letter. */
const signs = ["pointermove", "pointerdown", "wheel", "keydown"] as const;

/** Runs `run` once, with the first thing that a person does on the page. Returns how to stop waiting for it. */
export function onFirstInput(run: () => void): () => void {
  const settled = new AbortController();
  const first = () => {
    settled.abort();
    run();
  };
  for (const sign of signs) addEventListener(sign, first, { signal: settled.signal, passive: true });
  return () => settled.abort();
}
