import { useEffect } from "react";
import { Toaster as Sonner, toast as sonner } from "sonner";
import { useResolvedTheme } from "./theme.ts";
import { toastDuration, toasterIsThere } from "./toast.ts";

/** Constants of UI-1: milliseconds, pieces and pixels. */
const toastSettings = {
  duration: toastDuration,
  visibleToasts: 3,
  width: 356,
  gap: 14,
  hotkey: ["altKey", "KeyT"],
};

/** Where toasts appear. Once, in the root of the page. */
export function Toaster({ nonce }: { nonce?: string }) {
  const theme = useResolvedTheme();
  // Effects of children come first: what shows toasts listens by now.
  useEffect(() => toasterIsThere(sonner), []);
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
