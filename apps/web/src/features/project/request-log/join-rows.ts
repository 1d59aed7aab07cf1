type Row = { readonly id: string };

/** Two lists in order, each row once. */
export function joinRows<Each extends Row>(newest: readonly Each[], older: readonly Each[]): Each[] {
  const seen = new Set(newest.map((row) => row.id));
  return [...newest, ...older.filter((row) => !seen.has(row.id))];
}

/** Number of rows of the newest page before the shown ones; all, if it has none of them. */
export function countNew(shown: readonly Row[], newest: readonly Row[]): number {
  const known = new Set(shown.map((row) => row.id));
  const first = newest.findIndex((row) => known.has(row.id));
  return first === -1 ? newest.length : newest.slice(0, first).filter((row) => !known.has(row.id)).length;
}
