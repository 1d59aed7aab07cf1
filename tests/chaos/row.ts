/** Result of a scenario: a line of the table that `./towpath test chaos` prints. */
export type Row = {
  readonly scenario: string;
  /** How often the fault was made. */
  readonly times: number;
  readonly calls: number;
  readonly failed: number;
  /** Answered calls missing from the settled request log; negative when some are there twice. */
  readonly lost: number;
  /** Milliseconds from each fault to the first answer to a later call. */
  readonly recoveryMs: readonly number[];
  /** The claims of the scenario's promise that do not hold. */
  readonly problems: readonly string[];
  /** Set instead of numbers when the scenario cannot be run here. */
  readonly skipped?: string;
  /** Other measurements. */
  readonly detail?: string;
};

export const skipped = (scenario: string, why: string): Row => ({
  scenario,
  times: 0,
  calls: 0,
  failed: 0,
  lost: 0,
  recoveryMs: [],
  problems: [],
  skipped: why,
});

/** Turns claims that do not hold into problems. */
export const problemsOf = (claims: Readonly<Record<string, boolean>>): string[] =>
  Object.entries(claims)
    .filter(([, holds]) => !holds)
    .map(([claim]) => claim);

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const columns = ["times", "calls", "failed", "lost", "recovery median", "max ms"];

export function tableOf(rows: readonly Row[]): string {
  const widths = columns.map((column) => Math.max(column.length, 7) + 2);
  const line = (cells: readonly string[]) => cells.map((cell, index) => cell.padStart(widths[index] ?? 9)).join("");
  const ms = (value: number) => (Number.isNaN(value) ? "–" : String(Math.round(value)));
  const lines = [`${"".padEnd(34)}${line(columns)}`];
  for (const row of rows) {
    const numbers = [row.times, row.calls, row.failed, row.lost].map(String);
    const recovery = [ms(quantile(row.recoveryMs, 0.5)), ms(quantile(row.recoveryMs, 1))];
    const cells = row.skipped ? `  not run: ${row.skipped}` : line([...numbers, ...recovery]);
    lines.push(`${row.problems.length > 0 ? "✗" : row.skipped ? "·" : "✓"} ${row.scenario.padEnd(32)}${cells}`);
    if (row.detail) lines.push(`    ${row.detail}`);
    for (const problem of row.problems) lines.push(`    does not hold: ${problem}`);
  }
  return lines.join("\n");
}
