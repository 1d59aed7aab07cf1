import type { ExternalToast, toast as Sonner } from "sonner";

// The Toaster is loaded with the first toast, which follows a user's action.
let isRequested = false;
const listeners = new Set<() => void>();
let resolveToaster: (sonner: typeof Sonner) => void = () => {};
const loadedToaster = new Promise<typeof Sonner>((resolve) => {
  resolveToaster = resolve;
});

/** For `useSyncExternalStore`: whether there has been a toast. */
export const toasterRequest = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  get: () => isRequested,
  getOnServer: () => false,
};

/** Called by the `Toaster` once it is mounted. */
export const onToasterReady = (sonner: typeof Sonner): void => resolveToaster(sonner);

/** Requests the `Toaster` and resolves once it is mounted. */
function toaster(): Promise<typeof Sonner> {
  if (!isRequested) {
    isRequested = true;
    for (const listener of listeners) listener();
  }
  return loadedToaster;
}

/**
 * An HTTP failure becomes its status text, anything else its message (UI-1). A session that has ended meanwhile, such as in
 * another tab, loses nothing that was entered here.
 */
export function failureText(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "unauthenticated")
    return "You are signed out. Sign in in another tab, then try again.";
  if (error instanceof Response) return error.statusText || `HTTP ${error.status}`;
  // Network failures in Chromium, Firefox and Safari.
  if (error instanceof TypeError && /failed to fetch|networkerror|load failed/i.test(error.message))
    return "Towpath can't be reached. Try again.";
  return error instanceof Error && error.message ? error.message : "Something went wrong.";
}

/** How long a toast stays, in milliseconds (UI-1). */
export const toastDuration = 4000;

/** The toasts of UI-1. Errors stay until dismissed, everything else disappears after 4 seconds. */
export const toast = {
  show: (message: string, options?: ExternalToast) => void toaster().then((show) => show(message, options)),
  success: (message: string, options?: ExternalToast) => void toaster().then((show) => show.success(message, options)),
  info: (message: string, options?: ExternalToast) => void toaster().then((show) => show.info(message, options)),
  warning: (message: string, options?: ExternalToast) => void toaster().then((show) => show.warning(message, options)),
  error: (message: string, options?: ExternalToast) =>
    void toaster().then((show) => show.error(message, { duration: Number.POSITIVE_INFINITY, ...options })),
  /** Shows loading, then success or the error's text. Resolves or rejects like `work`. */
  async promise<Result>(work: Promise<Result>, texts: { loading: string; success: string }): Promise<Result> {
    const loading = toaster().then((show) => ({ show, id: show.loading(texts.loading) }));
    try {
      const result = await work;
      if (result instanceof Response && !result.ok) throw result;
      void loading.then(({ show, id }) => show.success(texts.success, { id, duration: toastDuration }));
      return result;
    } catch (error) {
      void loading.then(({ show, id }) => show.error(failureText(error), { id, duration: Number.POSITIVE_INFINITY }));
      throw error;
    }
  },
};
