export type Isolation<Row> = {
  /** Rows that could not be written now, in order; empty when the database could be asked. */
  unwritten: readonly Row[];
  /** Rows that the database will never take, with its reason. */
  refused: readonly { row: Row; error: unknown }[];
  /** Why `unwritten` is not empty. */
  error: unknown;
};

/** How many rows fail alone, with no other row written, before the table is taken to be at fault and not they. */
const maxSuspects = 3;

/**
 * Writes rows in one batch. When the database refuses it, halves the batch until the rows to blame stand alone: one
 * bad row must neither take 499 others with it nor be tried for ever. `write` is all or nothing.
 *
 * A row is to blame when the error says so (bad data) or when other rows could be written at the same time.
 */
export async function writeIsolating<Row>(
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<void>,
): Promise<Isolation<Row>> {
  const pieces: (readonly Row[])[] = [rows];
  const refused: { row: Row; error: unknown }[] = [];
  let suspects: { row: Row; error: unknown }[] = [];
  let hasWritten = false;
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    try {
      await write(piece);
      hasWritten = true;
    } catch (error) {
      const [row] = piece;
      const blame = blameFor(error);
      if (blame === "database") return { unwritten: unwritten(suspects, [...pieces, piece]), refused, error };
      if (piece.length > 1 || row === undefined) {
        const middle = piece.length >> 1;
        pieces.push(piece.slice(middle), piece.slice(0, middle));
      } else if (blame === "row") refused.push({ row, error });
      else {
        suspects.push({ row, error });
        if (!hasWritten && suspects.length >= maxSuspects) break;
      }
    }
    if (hasWritten) {
      refused.push(...suspects);
      suspects = [];
    }
  }
  return { unwritten: unwritten(suspects, pieces), refused, error: suspects[0]?.error };
}

/** Pieces lie on a stack: the last one comes first. */
function unwritten<Row>(suspects: readonly { row: Row }[], pieces: readonly (readonly Row[])[]): Row[] {
  return [...suspects.map(({ row }) => row), ...pieces.toReversed().flat()];
}

/**
 * SQLSTATE classes 22 (data), 23 (constraint) and 54 (limit) blame a row. Connection, resource and operator classes,
 * and errors that did not come from the database, say that it cannot be asked now. Others may mean either.
 */
function blameFor(error: unknown): "row" | "database" | "unknown" {
  // Our own code choked on a value, unless it chokes on every one.
  if (error instanceof TypeError || error instanceof RangeError) return "unknown";
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code)) return "database";
  if (/^(?:22|23|54)/.test(code)) return "row";
  return /^(?:08|25|28|3D|40|53|55|57|58)/.test(code) ? "database" : "unknown";
}
