/** Effect of a key in a list of choices: moves to another one, or types into the filter. */
export type ListMove = { readonly to: number } | { readonly type: string } | null;

type Key = { readonly key: string; readonly ctrlKey: boolean; readonly metaKey: boolean; readonly altKey: boolean };

const page = 10;

/** ARIA's listbox pattern, with a filter instead of type-ahead. `at`: the focused one of `count`; -1: none. */
export function moveInList({ key, ctrlKey, metaKey, altKey }: Key, at: number, count: number): ListMove {
  if (ctrlKey || metaKey || altKey) return null;
  if (key.length === 1 && key !== " ") return { type: key };
  const to = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: count - 1,
    PageDown: at + page,
    PageUp: at - page,
  }[key];
  if (to === undefined || count === 0) return null;
  return { to: Math.min(count - 1, Math.max(0, to)) };
}
