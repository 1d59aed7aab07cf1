/** Arguments of a call, and the tool. */
type BenchCall = readonly [tool: string, arguments: Readonly<Record<string, string | number | boolean | null>>];

/** A pull request: each text of the server's file that it replaces, and by what. */
export interface BenchChange {
  readonly what: string;
  readonly change: readonly (readonly [before: string, after: string])[];
}

/** A server whose code is in `NAME.py` beside this file. */
export interface BenchServer {
  readonly name: string;
  readonly calls: readonly BenchCall[];
  readonly questions: readonly string[];
  readonly faults: readonly BenchChange[];
  readonly harmless: readonly BenchChange[];
}

/**
 * The code with a change. @throws Error where the text to replace is not there exactly as often as the change assumes: once
 */
export function changed(code: string, { what, change }: BenchChange): string {
  return change.reduce((text, [before, after]) => {
    const parts = text.split(before);
    if (parts.length !== 2) throw new Error(`${what}: "${before}" is there ${parts.length - 1} times.`);
    return parts.join(after);
  }, code);
}
