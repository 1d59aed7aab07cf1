import { type RefObject, useEffect } from "react";
import { areSingleKeysOn } from "~/ui/single-keys.ts";

type ListKeys = {
  readonly onToggle: (id: string) => void;
  /** Null: nothing is done by `e`. */
  readonly onDone: ((id: string | null) => void) | null;
};

const isTaken = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey ||
  metaKey ||
  altKey ||
  (target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select"))) ||
  document.querySelector("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]") !== null;

/**
 * Keys of a list of errors beside those of every list: x selects the focused row, and e is done with the selected rows or
 * the focused one, also from elsewhere on the page.
 */
export function useListKeys(list: RefObject<HTMLElement | null>, { onToggle, onDone }: ListKeys): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!list.current || !areSingleKeysOn() || isTaken(event)) return;
      const row = document.activeElement?.closest("tr")?.querySelector<HTMLElement>("[data-row]");
      const id = row && list.current.contains(row) ? (row.dataset.row ?? null) : null;
      if (event.key === "x" && id !== null) onToggle(id);
      else if (event.key === "e" && onDone) onDone(id);
      else return;
      event.preventDefault();
    };
    // Before the keys of every list, for which e is something else.
    addEventListener("keydown", listen, { capture: true });
    return () => removeEventListener("keydown", listen, { capture: true });
  });
}
