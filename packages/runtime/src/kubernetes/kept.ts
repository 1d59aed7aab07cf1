/** Milliseconds after which a result is asked for again: a good one, and another. */
export type Ages = { readonly goodMs: number; readonly badMs: number };

/**
 * Keeps the last result, and asks again when it is old. Only the first one is waited for: whoever asks later gets the last
 * one at once. `ask` must not reject.
 */
export function kept<Result>(
  ask: () => Promise<Result>,
  { isGood, goodMs, badMs }: Ages & { readonly isGood: (result: Result) => boolean },
): () => Promise<Result> {
  let last: Promise<Result> | null = null;
  let until = Number.POSITIVE_INFINITY;
  const renew = async () => {
    until = Number.POSITIVE_INFINITY;
    const result = await ask();
    until = performance.now() + (isGood(result) ? goodMs : badMs);
    return result;
  };
  return async () => {
    if (last === null) last = renew();
    else if (performance.now() >= until)
      void renew().then((result) => {
        last = Promise.resolve(result);
      });
    return await last;
  };
}
