import type { RequestLogRow } from "@towpath/logs";

/** Rows of one project at once, and each second after that. */
const burstRows = 60;
const rowsPerSecond = 5;

type Allowance = { rows: number; at: number; leftOut: number };

/**
 * Rate-limits the rows of requests refused before they reached their server: anybody can send those, and a flood must
 * not fill a project's log. Omitted rows are counted, and the next row that is kept says how many there were.
 */
export class RefusalLimit {
  /** Rows left out since the start. */
  leftOut = 0;
  readonly #allowances = new Map<string, Allowance>();
  readonly #burstRows: number;
  readonly #rowsPerSecond: number;
  readonly #now: () => number;

  /** `share`: the part of the bound that is this process's. `now`: milliseconds that only grow. */
  constructor({ share = 1, now = () => performance.now() }: { share?: number; now?: () => number } = {}) {
    this.#burstRows = Math.max(1, burstRows * share);
    this.#rowsPerSecond = rowsPerSecond * share;
    this.#now = now;
  }

  /** The row to keep; null to leave it out. */
  admit(row: RequestLogRow): RequestLogRow | null {
    const now = this.#now();
    // At most one entry per project with a route.
    const before = this.#allowances.get(row.projectId) ?? { rows: this.#burstRows, at: now, leftOut: 0 };
    const rows = Math.min(this.#burstRows, before.rows + ((now - before.at) / 1000) * this.#rowsPerSecond);
    if (rows < 1) {
      this.leftOut++;
      this.#allowances.set(row.projectId, { rows, at: now, leftOut: before.leftOut + 1 });
      return null;
    }
    this.#allowances.set(row.projectId, { rows: rows - 1, at: now, leftOut: 0 });
    if (before.leftOut === 0) return row;
    const notice = `Before this one, ${before.leftOut} refused requests were left out of the log.`;
    return { ...row, errorMessage: row.errorMessage === null ? notice : `${row.errorMessage} ${notice}` };
  }
}
