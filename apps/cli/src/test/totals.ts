import { stripVTControlCharacters } from "node:util";
import { z } from "zod";

/** A failed test or check: its name, and its message, which may have many lines and colors. */
const failureSchema = z.object({ name: z.string(), message: z.string() });
export type Failure = z.infer<typeof failureSchema>;

export const totalsSchema = z.object({ passed: z.number(), failures: z.array(failureSchema) });
/** What a stage adds to the totals. */
export type Totals = z.infer<typeof totalsSchema>;

const maxLines = 4;
const maxColumns = 200;
const maxFailures = 40;

/** The failures with the first lines of their messages: short, since logs of CI are cut. */
export function describeFailures(title: string, failures: readonly Failure[]): string[] {
  const lines = failures.slice(0, maxFailures).flatMap(({ name, message }) => {
    const text = stripVTControlCharacters(message)
      .split("\n")
      .filter((line) => line.trim() !== "");
    return [`✗ ${title}: ${name}`, ...text.slice(0, maxLines).map((line) => `    ${line.slice(0, maxColumns)}`)];
  });
  const left = failures.length - maxFailures;
  return left > 0 ? [...lines, `✗ ${title}: and ${left} more`] : lines;
}
