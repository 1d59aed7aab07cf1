import { type ExternalToast, Toaster as Sonner, toast as sonner } from "sonner";
import { useResolvedTheme } from "./theme.ts";

/** Constants of UI-1: milliseconds, pieces and pixels. */
export const toastSettings = { duration: 4000, visibleToasts: 3, width: 356, gap: 14, hotkey: ["altKey", "KeyT"] };

/** Where toasts appear. Once, in the root of the page. */
export function Toaster({ nonce }: { nonce?: string }) {
  const theme = useResolvedTheme();
  return (
    <Sonner
      theme={theme}
      position="bottom-right"
      duration={toastSettings.duration}
      visibleToasts={toastSettings.visibleToasts}
      gap={toastSettings.gap}
      hotkey={toastSettings.hotkey}
      closeButton
      {...(nonce ? { nonce } : {})}
      toastOptions={{
        classNames: {
          toast: "!rounded-lg !border-line !bg-raised !text-ink !shadow-pop !font-sans",
          description: "!text-muted",
          error: "[&_[data-icon]]:!text-bad",
          success: "[&_[data-icon]]:!text-ok",
          warning: "[&_[data-icon]]:!text-warn",
          closeButton: "!border-line !bg-raised !text-muted",
        },
      }}
      style={{ "--width": `${toastSettings.width}px` } as React.CSSProperties}
    />
  );
}

type Message = Parameters<typeof sonner>[0];

/** An HTTP failure becomes its status text, anything else its message (UI-1). */
export function failureText(error: unknown): string {
  if (error instanceof Response) return error.statusText || `HTTP ${error.status}`;
  return error instanceof Error && error.message ? error.message : "Something went wrong.";
}

/** Toasts as UI-1 names them. Errors stay until they are dismissed, everything else goes after 4 seconds. */
export const toast = {
  show: (message: Message, options?: ExternalToast) => sonner(message, options),
  loading: (message: Message, options?: ExternalToast) => sonner.loading(message, options),
  success: (message: Message, options?: ExternalToast) => sonner.success(message, options),
  info: (message: Message, options?: ExternalToast) => sonner.info(message, options),
  warning: (message: Message, options?: ExternalToast) => sonner.warning(message, options),
  error: (message: Message, options?: ExternalToast) => sonner.error(message, { duration: Infinity, ...options }),
  dismiss: (id?: string | number) => sonner.dismiss(id),
  /** Loading, then success or an error with the failure's text; resolves or rejects as `work` does. */
  async promise<Result>(work: Promise<Result>, texts: { loading: string; success: string }): Promise<Result> {
    const id = sonner.loading(texts.loading);
    try {
      const result = await work;
      if (result instanceof Response && !result.ok) throw result;
      sonner.success(texts.success, { id, duration: toastSettings.duration });
      return result;
    } catch (error) {
      sonner.error(failureText(error), { id, duration: Infinity });
      throw error;
    }
  },
};
