import { useEffect } from "react";
import { Toaster as Sonner, toast as sonner } from "sonner";
import { useResolvedTheme } from "./theme.ts";
import { onToasterReady, toastDuration } from "./toast.ts";

/** Constants of UI-1: milliseconds, a count and pixels. */
const toastSettings = {
  duration: toastDuration,
  visibleToasts: 3,
  width: 356,
  gap: 14,
  hotkey: ["altKey", "KeyT"],
};

/** Where toasts appear. The root route mounts it once. */
export function Toaster() {
  const theme = useResolvedTheme();
  // Effects of children run first, so Sonner listens by now.
  useEffect(() => onToasterReady(sonner), []);
  return (
    <Sonner
      theme={theme}
      position="bottom-right"
      duration={toastSettings.duration}
      visibleToasts={toastSettings.visibleToasts}
      gap={toastSettings.gap}
      hotkey={toastSettings.hotkey}
      closeButton
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
