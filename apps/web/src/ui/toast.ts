import type { ExternalToast, toast as Sonner } from "sonner";

type Message = string;

// The first toast follows a user's action, so the component that shows them is loaded with it.
let isWanted = false;
const listeners = new Set<() => void>();
let settle: (sonner: typeof Sonner) => void = () => {};
const shown = new Promise<typeof Sonner>((resolve) => {
  settle = resolve;
});

/** For `useSyncExternalStore`: whether there has been a toast. */
export const toastsWanted = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  get: () => isWanted,
  getOnServer: () => false,
};

/** Called by the `Toaster` once it can show what it is given. */
export const toasterIsThere = (sonner: typeof Sonner): void => settle(sonner);

/** Resolves once toasts can be shown. */
function toaster(): Promise<typeof Sonner> {
  if (!isWanted) {
    isWanted = true;
    for (const listener of listeners) listener();
  }
  return shown;
}

/** An HTTP failure becomes its status text, anything else its message (UI-1). */
export function failureText(error: unknown): string {
  if (error instanceof Response) return error.statusText || `HTTP ${error.status}`;
  // What Chromium, Firefox and Safari say when no answer came at all.
  if (error instanceof TypeError && /failed to fetch|networkerror|load failed/i.test(error.message))
    return "Towpath cannot be reached. Try again.";
  return error instanceof Error && error.message ? error.message : "Something went wrong.";
}

/** How long a toast stays, milliseconds (UI-1). */
export const toastDuration = 4000;

/** Toasts as UI-1 names them. Errors stay until they are dismissed, everything else goes after 4 seconds. */
export const toast = {
  show: (message: Message, options?: ExternalToast) => void toaster().then((show) => show(message, options)),
  success: (message: Message, options?: ExternalToast) => void toaster().then((show) => show.success(message, options)),
  info: (message: Message, options?: ExternalToast) => void toaster().then((show) => show.info(message, options)),
  warning: (message: Message, options?: ExternalToast) => void toaster().then((show) => show.warning(message, options)),
  error: (message: Message, options?: ExternalToast) =>
    void toaster().then((show) => show.error(message, { duration: Number.POSITIVE_INFINITY, ...options })),
  /** Loading, then success or an error with the failure's text; resolves or rejects as `work` does. */
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
