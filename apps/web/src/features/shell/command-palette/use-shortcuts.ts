import { useEffect, useSyncExternalStore } from "react";
import { areSingleKeysOn } from "~/ui/single-keys.ts";

/** The name of the key that is held with K: "⌘" on Apple's systems. */
export const useCommandKey = (): string =>
  useSyncExternalStore(
    () => () => {},
    () => (/mac|iphone|ipad/i.test(navigator.platform) ? "⌘" : "Ctrl"),
    () => "Ctrl",
  );

/** The shortcuts of every screen: Ctrl-K or ⌘K, `/` and `?`. Single keys do nothing while someone types or a dialog is open. */
export function useShortcuts({ onPalette, onHelp }: { onPalette: () => void; onHelp: () => void }): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && !event.shiftKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onPalette();
      }
      if (isCommand || !areSingleKeysOn() || isTyping(event.target) || isDialogOpen()) return;
      if (event.key === "?") {
        event.preventDefault();
        onHelp();
      }
      if (event.key === "/") {
        event.preventDefault();
        const field = pageSearch();
        if (field) field.focus();
        else onPalette();
      }
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [onPalette, onHelp]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));

const isDialogOpen = (): boolean => document.querySelector("[role=dialog], [role=alertdialog]") !== null;

/** The search field of the page, if it has one. */
const pageSearch = (): HTMLInputElement | undefined =>
  [...document.querySelectorAll<HTMLInputElement>("main input[type=search]")].find((field) => field.checkVisibility());
