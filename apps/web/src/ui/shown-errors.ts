// Errors that a page showed instead of its content. Error screens add them; a listener, if any, reports them.

type Listener = (error: unknown) => void;

/** Enough for the time before the listener is loaded. */
const maxKept = 10;

let listener: Listener | undefined;
let kept: unknown[] = [];

/** Tells an error that was shown. */
export function addShownError(error: unknown): void {
  if (listener) listener(error);
  else if (kept.length < maxKept) kept.push(error);
}

/** Sets the only listener, which also gets earlier errors. */
export function onShownError(next: Listener): void {
  listener = next;
  const earlier = kept;
  kept = [];
  for (const error of earlier) next(error);
}
