/**
 * `unavailable`: the database takes no rows now. `doubtful`: it refuses rows without blaming them or the table, and no
 * other row could be written that would show it.
 */
export type WriteOutcome = "done" | "unavailable" | "doubtful";

export type Isolation<Row> = {
  outcome: WriteOutcome;
  /** Rows that could not be written now, in order. Empty when `done`. */
  unwritten: readonly Row[];
  /** Rows that the database will never take, with its reason. */
  refused: readonly { row: Row; error: unknown }[];
  /** Why `unwritten` is not empty. */
  error: unknown;
  /** Whether any row was written. */
  hasWritten: boolean;
};

/** How many rows fail alone, with no other row written, before one from anywhere in the batch is tried as a probe. */
const maxSuspects = 3;

/**
 * Writes rows in one batch. When the database refuses it, halves the batch until the rows to blame are alone: one bad
 * row must neither take 499 others with it nor be retried forever. `write` is all or nothing.
 *
 * A row is to blame if the error says so (bad data), or if other rows could be written at the same time or, with
 * `isTableProven`, since the last attempt. That proof is of the past, so it counts for a few rows only: if the table
 * has broken meanwhile, no more are lost.
 */
export async function writeIsolating<Row>(
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<void>,
  { isTableProven = false }: { isTableProven?: boolean } = {},
): Promise<Isolation<Row>> {
  const pieces: (readonly Row[])[] = [rows];
  const refused: { row: Row; error: unknown }[] = [];
  let suspects: { row: Row; error: unknown }[] = [];
  let hasWritten = false;
  let hasProbed = false;
  const inOrder = (left: readonly (readonly Row[])[]) => {
    const all = new Set([...suspects.map(({ row }) => row), ...left.flat()]);
    return rows.filter((row) => all.has(row));
  };
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    try {
      await write(piece);
      hasWritten = true;
    } catch (error) {
      const [row] = piece;
      const blame = blameFor(error);
      if (blame === "database") {
        return { outcome: "unavailable", unwritten: inOrder([...pieces, piece]), refused, error, hasWritten };
      }
      if (piece.length > 1 || row === undefined) {
        const middle = piece.length >> 1;
        pieces.push(piece.slice(middle), piece.slice(0, middle));
      } else if (blame === "row") refused.push({ row, error });
      else suspects.push({ row, error });
    }
    if (hasWritten) {
      refused.push(...suspects);
      suspects = [];
    } else if (suspects.length >= maxSuspects) {
      if (hasProbed) break;
      hasProbed = true;
      splitOffAny(pieces);
    }
  }
  const error = suspects[0]?.error;
  if (isTableProven) refused.push(...suspects.splice(0));
  const unwritten = inOrder(pieces);
  return { outcome: unwritten.length === 0 ? "done" : "doubtful", unwritten, refused, error, hasWritten };
}

/** Puts one random row of any piece on top of the stack, so that bad rows cannot block it forever. */
function splitOffAny<Row>(pieces: (readonly Row[])[]): void {
  const rest = pieces.splice(0).toReversed().flat();
  const at = Math.floor(Math.random() * rest.length);
  // Never an empty one: writing nothing always succeeds, and proves nothing.
  pieces.push(...[rest.toSpliced(at, 1), rest.slice(at, at + 1)].filter((piece) => piece.length > 0));
}

/**
 * SQLSTATE classes 22 (data), 23 (constraint) and 54 (limit) blame a row. Connection, resource and operator classes, a
 * missing table, column or privilege, and errors that did not come from the database mean that it is unavailable.
 * Others may mean either.
 */
function blameFor(error: unknown): "row" | "database" | "unknown" {
  // Our own code failed on a value, or on every one.
  if (error instanceof TypeError || error instanceof RangeError) return "unknown";
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code)) return "database";
  if (/^(?:22|23|54)/.test(code)) return "row";
  return /^(?:08|25|28|3D|40|53|55|57|58|42P01|42703|42501)/.test(code) ? "database" : "unknown";
}
