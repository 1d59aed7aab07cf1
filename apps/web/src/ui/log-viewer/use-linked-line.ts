import { useSyncExternalStore } from "react";

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

function readLine(): number | null {
  const found = /^#L(\d{1,9})$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}

/** The line number in the address's `#L12`, or null. */
export function useLinkedLine(): number | null {
  return useSyncExternalStore(subscribe, readLine, () => null);
}
