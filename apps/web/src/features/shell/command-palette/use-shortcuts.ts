import { useEffect, useSyncExternalStore } from "react";
import { isInRow, moveInList } from "~/ui/list-keys.ts";
import { areSingleKeysOn } from "~/ui/single-keys.ts";

/** The name of the key that is held with K: "⌘" on Apple's systems. */
export const useCommandKey = (): string =>
  useSyncExternalStore(
    () => () => {},
    () => (/mac|iphone|ipad/i.test(navigator.platform) ? "⌘" : "Ctrl"),
    () => "Ctrl",
  );

/**
 * The shortcuts of every screen: Ctrl-K or ⌘K, `/` and `?`, and those of lists. Single keys do nothing while someone types
 * or a dialog is open, except beside a list.
 */
export function useShortcuts({ onPalette, onHelp }: { onPalette: () => void; onHelp: () => void }): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && !event.shiftKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onPalette();
      }
      if (isCommand || isTyping(event.target) || (isDialogOpen() && !isInRow(event.target))) return;
      if (moveInList(event, areSingleKeysOn())) event.preventDefault();
      if (!areSingleKeysOn()) return;
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

/** Also in open lists and menus, where letters choose. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.closest("input, textarea, select, [role=listbox], [role=menu]") !== null);

const isDialogOpen = (): boolean => document.querySelector("[role=dialog], [role=alertdialog]") !== null;

/** The search field of the page, if it has one. */
const pageSearch = (): HTMLInputElement | undefined =>
  [...document.querySelectorAll<HTMLInputElement>("main input[type=search]")].find((field) => field.checkVisibility());
