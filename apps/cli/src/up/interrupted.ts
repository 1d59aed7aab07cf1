/** Aborted at the first SIGINT, SIGTERM or SIGHUP. */
export function interrupted(): { readonly signal: AbortSignal; readonly promise: Promise<void> } {
  const stopping = new AbortController();
  const promise = new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve()));
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stopping.abort());
  return { signal: stopping.signal, promise };
}
