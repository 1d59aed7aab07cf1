import { type RefObject, useEffect } from "react";
import { areSingleKeysOn } from "~/ui/single-keys.ts";

type ListKeys = {
  readonly onOpen: (id: string) => void;
  readonly onToggle: (id: string) => void;
  /** Null: nothing is done by `e`. */
  readonly onDone: ((id: string | null) => void) | null;
};

const rowsOf = (list: HTMLElement) =>
  [...list.querySelectorAll<HTMLElement>("[data-row]")].filter((row) => row.getClientRects().length > 0);

const isTaken = ({ target, defaultPrevented, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  defaultPrevented ||
  ctrlKey ||
  metaKey ||
  altKey ||
  (target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select"))) ||
  document.querySelector("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]") !== null;

/**
 * Keys of a list whose links have `data-row`: j and k or the arrows move the focus, o opens, x selects, e is done with the
 * selected rows or the focused one. They work while the focus is in the list; j, k and e everywhere on the page.
 */
export function useListKeys(list: RefObject<HTMLElement | null>, keys: ListKeys): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!list.current || isTaken(event)) return;
      const rows = rowsOf(list.current);
      const at = rows.findIndex((row) => row.closest("tr")?.contains(document.activeElement));
      const isInside = at !== -1;
      const areOn = areSingleKeysOn();
      const move = (to: number) => rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus();
      const id = rows[at]?.dataset.row ?? null;
      const actions: Readonly<Record<string, (() => unknown) | false | null>> = {
        j: areOn && (() => move(at + 1)),
        k: areOn && (() => move(isInside ? at - 1 : 0)),
        ArrowDown: isInside && (() => move(at + 1)),
        ArrowUp: isInside && (() => move(at - 1)),
        o: areOn && id !== null && (() => keys.onOpen(id)),
        x: areOn && id !== null && (() => keys.onToggle(id)),
        e: areOn && keys.onDone && (() => keys.onDone?.(id)),
      };
      const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
}
