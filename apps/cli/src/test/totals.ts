import { stripVTControlCharacters } from "node:util";
import { z } from "zod";

/** Where a program prints: the terminal, or the descriptor of a file. */
export type Output = "inherit" | number;

/** A failed test or check: its name, and its message, possibly with many lines and colors. */
const failureSchema = z.object({ name: z.string(), message: z.string() });
export type Failure = z.infer<typeof failureSchema>;

/** `path` is absolute. */
const failedFileSchema = z.object({ path: z.string(), passed: z.number(), failures: z.array(failureSchema) });

/**
 * What a run of test files reports: `passed` and `failures` are those outside of the files in which something failed.
 * `notShown`: skipped tests that would show a promise, because this machine or user lacks something.
 */
export const reportSchema = z.object({
  passed: z.number(),
  failures: z.array(failureSchema),
  notShown: z.array(z.string()),
  failedFiles: z.array(failedFileSchema),
});
export type Report = z.infer<typeof reportSchema>;

/** A test file with a failure; `runAlone` runs it alone. */
export type FailedFile = z.infer<typeof failedFileSchema> & {
  readonly runAlone: (output: Output) => Promise<Totals>;
};

/** Totals of a stage. `skipped`: why nothing of it could run here. */
export type Totals = Omit<Report, "failedFiles"> & {
  readonly failedFiles: readonly FailedFile[];
  readonly skipped?: string;
};

export const totalsOf = (passed: number, ...failures: Failure[]): Totals => {
  return { passed, failures, notShown: [], failedFiles: [] };
};

/** Totals of a stage whose requirements are missing here. */
export const skippedFor = (reason: string): Totals => ({ ...totalsOf(0), skipped: reason });

export const passedOf = ({ passed, failedFiles }: Totals): number =>
  failedFiles.reduce((sum, file) => sum + file.passed, passed);

export const failuresOf = ({ failures, failedFiles }: Totals): Failure[] => [
  ...failedFiles.flatMap((file) => file.failures),
  ...failures,
];

export const emptyReport = (): Report => ({ passed: 0, failures: [], notShown: [], failedFiles: [] });

const maxLines = 4;
const maxColumns = 200;
const maxFailures = 40;

/** The failures with the first lines of their messages: short, since logs of CI are cut. */
export function describeFailures(title: string, failures: readonly Failure[], mark = "✗"): string[] {
  const lines = failures.slice(0, maxFailures).flatMap(({ name, message }) => {
    const text = stripVTControlCharacters(message)
      .split("\n")
      .filter((line) => line.trim() !== "");
    return [`${mark} ${title}: ${name}`, ...text.slice(0, maxLines).map((line) => `    ${line.slice(0, maxColumns)}`)];
  });
  const left = failures.length - maxFailures;
  return left > 0 ? [...lines, `${mark} ${title}: and ${left} more`] : lines;
}
