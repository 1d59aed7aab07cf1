import { useMemo, useState } from "react";

/** What rows are compared by. */
export type SortValue = string | number | null | undefined;

/** Sort state and action of a column's header; undefined for columns that can't be sorted. */
export type ColumnSort = { readonly direction: "ascending" | "descending" | "none"; readonly onSort: () => void };

const byText = new Intl.Collator("en", { numeric: true });

/**
 * Compares two values of a column. Empty values come last in both directions.
 *
 * @param sign 1 for ascending, -1 for descending
 */
export function compareValues(one: SortValue, other: SortValue, sign: 1 | -1): number {
  const [isEmpty, isOtherEmpty] = [one ?? null, other ?? null].map((value) => value === null);
  if (isEmpty || isOtherEmpty) return Number(isEmpty) - Number(isOtherEmpty);
  if (typeof one === "number" && typeof other === "number") return sign * (one - other);
  return sign * byText.compare(String(one), String(other));
}

/**
 * Rows in the order chosen by a header: ascending, descending, then the original order.
 *
 * @param columns the value to compare by, for each header's name
 * @param isWhole whether the rows are the whole list: the order of a part would mislead
 */
export function useSorted<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => SortValue>>,
  isWhole = true,
) {
  const [chosen, setChosen] = useState<{ readonly name: string; readonly sign: 1 | -1 } | null>(null);
  const active = isWhole ? chosen : null;
  const value = active ? columns[active.name] : undefined;
  const sorted = useMemo(
    () => (active && value ? rows.toSorted((a, b) => compareValues(value(a), value(b), active.sign)) : rows),
    [rows, active, value],
  );
  const sort = (name: string): ColumnSort | undefined => {
    if (!isWhole || !columns[name]) return undefined;
    const sign = active?.name === name ? active.sign : null;
    return {
      direction: sign === null ? "none" : sign === 1 ? "ascending" : "descending",
      onSort: () => setChosen(sign === -1 ? null : { name, sign: sign === 1 ? -1 : 1 }),
    };
  };
  return { rows: sorted, sort };
}
