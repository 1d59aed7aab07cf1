/**
 * The links or buttons that open the rows of the page's lists (`data-row`). Those that phones hide can't take the focus.
 */
const rowsOf = (): readonly HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter((row) => row.getClientRects().length > 0);

const lineOf = (row: Element) => row.closest("tr, li");

/**
 * Moves the focus between the rows of the page's lists, opens the focused one or runs its action. From anywhere: j and k
 * to the next and the previous row. In a row: o opens it, and e runs its action, which its last cell has, or else opens
 * it, too. On what opens a row, arrow keys, Home and End move as well.
 *
 * @param areSingleKeysOn whether letters are shortcuts
 * @returns whether the key was one of these
 */
export function moveInList({ key, target }: KeyboardEvent, areSingleKeysOn: boolean): boolean {
  const rows = rowsOf();
  const at = target instanceof Element ? rows.findIndex((row) => lineOf(row)?.contains(target) ?? false) : -1;
  const row = rows[at];
  if (areSingleKeysOn && row && (key === "o" || key === "e")) {
    const action = key === "e" ? lineOf(row)?.querySelector<HTMLElement>("td:last-child :is(a, button)") : null;
    (action ?? row).click();
    return true;
  }
  const moves = {
    ...(areSingleKeysOn ? { j: at + 1, k: at - 1 } : {}),
    ...(row === target ? { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 } : {}),
  };
  const to = Object.entries(moves).find(([name]) => name === key)?.[1];
  const next = to === undefined ? undefined : rows[Math.min(Math.max(to, 0), rows.length - 1)];
  next?.focus();
  return next !== undefined;
}

/** Whether the focus is in a row of a list. */
export const isInRow = (target: EventTarget | null): boolean =>
  target instanceof Element && lineOf(target)?.querySelector("[data-row]") != null;

/** In the search field above a list: the arrow down moves the focus to its first row. */
export function enterList(event: { readonly key: string; preventDefault(): void }): void {
  if (event.key !== "ArrowDown") return;
  event.preventDefault();
  document.querySelector<HTMLElement>("[data-row]")?.focus();
}
