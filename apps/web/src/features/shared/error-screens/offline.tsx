import { useEffect } from "react";
import { Button } from "~/ui/button.tsx";

/** Browsers' messages when a part of a page, or an answer, doesn't arrive. */
const networkFailure =
  /failed to fetch|networkerror|load failed|error loading dynamically imported|importing a module script failed/i;

/** Whether this failed because the browser has no connection. */
export const isOfflineFailure = (error: unknown): boolean =>
  typeof navigator !== "undefined" &&
  !navigator.onLine &&
  error instanceof Error &&
  (networkFailure.test(error.message) || error.name === "AbortError");

/** Replaces a page that can't be loaded offline, and loads it once online. */
export function OfflinePage({ again }: { readonly again: () => void }) {
  useEffect(() => {
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, [again]);
  return (
    <div className="mx-auto flex w-full max-w-md flex-col items-start px-4 py-16 sm:py-24">
      <title>You're offline · Towpath</title>
      <h1 className="text-2xl font-semibold tracking-tight">You're offline</h1>
      <p className="mt-2 text-base text-muted">
        This page isn't loaded yet. It opens as soon as you're online again; your servers answer meanwhile.
      </p>
      <Button className="mt-6" onClick={again}>
        Try again
      </Button>
    </div>
  );
}

// The router's own, in lazyRouteComponent: it reloads the page once for each part that is missing.
const reloadedPrefix = "tanstack_router_reload:";

/**
 * Keeps the document while offline. The router reloads it to get parts that a new release has renamed; offline, that
 * would replace the app by the browser's error page. Returns a function that stops this.
 */
export function keepDocumentOffline(): () => void {
  const held = new Set<string>();
  const onMissing = (event: Event) => {
    const { payload } = event as Event & { readonly payload?: Error };
    if (navigator.onLine || payload === undefined) return;
    const key = reloadedPrefix + payload.message;
    held.add(key);
    sessionStorage.setItem(key, "1");
  };
  const release = () => {
    for (const key of held) sessionStorage.removeItem(key);
    held.clear();
  };
  addEventListener("vite:preloadError", onMissing);
  addEventListener("online", release);
  return () => {
    removeEventListener("vite:preloadError", onMissing);
    removeEventListener("online", release);
  };
}
