import { useSyncExternalStore } from "react";

function subscribe(listener: () => void): () => void {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
}

/** Shows that the browser is offline, and the consequences. Always in the page, so that screen readers announce it. */
export function OfflineBanner() {
  const isOnline = useSyncExternalStore(
    subscribe,
    () => navigator.onLine,
    () => true,
  );
  return (
    // Below the bar, which is sticky too.
    <div role="status" className="sticky top-[calc(4rem+1px)] z-20 not-empty:border-b not-empty:bg-warn-soft">
      {isOnline ? null : (
        <p className="mx-auto max-w-[96rem] px-4 py-2 text-sm text-warn sm:px-6">
          <span className="font-medium">You're offline.</span> This page may be out of date, and changes can't be saved.
        </p>
      )}
    </div>
  );
}
