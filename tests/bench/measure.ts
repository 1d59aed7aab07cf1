import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Ends a benchmark whose programs this machine lacks. `packages`: Debian's package of each. */
export function requirePrograms(packages: Readonly<Record<string, string>>): void {
  const directories = (process.env.PATH ?? "").split(delimiter);
  const missing = Object.keys(packages).filter((name) => !directories.some((each) => existsSync(join(each, name))));
  if (missing.length === 0) return;
  const names = missing.map((name) => packages[name]).join(" ");
  process.stderr.write(`Missing: ${missing.join(", ")}. Install them first, for example: apt-get install ${names}\n`);
  process.exit(2);
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

export type Series = { readonly what: string; readonly values: readonly number[]; readonly target?: string };

export const median = (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** Prints milliseconds: minimum, median and maximum of each series, with its target beside it. */
export function printTable(title: string, series: readonly Series[]): void {
  const cell = (value: number) => value.toFixed(value < 20 ? 2 : 0).padStart(9);
  process.stdout.write(
    `\n${title}\n${"".padEnd(52)}${["min ms", "median ms", "max ms"].map((head) => head.padStart(10)).join("")}  runs  target\n`,
  );
  for (const { what, values, target } of series) {
    const numbers = [Math.min(...values), median(values), Math.max(...values)]
      .map((value) => ` ${cell(value)}`)
      .join("");
    process.stdout.write(`${what.padEnd(52)}${numbers}  ${String(values.length).padStart(4)}  ${target ?? ""}\n`);
  }
}
