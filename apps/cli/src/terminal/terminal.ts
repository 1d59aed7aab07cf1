const colour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

export const dim = (text: string) => paint(2, text);
export const bold = (text: string) => paint(1, text);
export const red = (text: string) => paint(31, text);
export const green = (text: string) => paint(32, text);
export const yellow = (text: string) => paint(33, text);

/** Clients and servers choose some texts: without line breaks and characters that control the terminal. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, " ");

/**
 * Build logs, diagnoses and errors of servers quote strangers: keeps line breaks, tabs and the colors above, and drops
 * all other control characters and those that change the direction of text.
 */
const safe = (text: string): string =>
  text.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /(\u001b\[(?:[0-2]|3[1-3])m|[\n\t])|[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
    (_, ours?: string) => ours ?? " ",
  );

/** Escapes characters that JSON leaves unescaped and terminals obey. */
const escaped = (json: string): string =>
  json.replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

let jsonOnly = false;

/** With `--json`, stdout has only JSON, and texts go to stderr. */
export function printJsonOnly(on: boolean): void {
  jsonOnly = on;
}

export const printsJson = (): boolean => jsonOnly;

const textStream = () => (jsonOnly ? process.stderr : process.stdout);

export function print(line: string): void {
  textStream().write(`${safe(line)}\n`);
}

/** Prints the value as one line of JSON with `--json`; otherwise calls `asText`. */
export function output(value: unknown, asText: () => void): void {
  if (jsonOnly) process.stdout.write(`${escaped(JSON.stringify(value))}\n`);
  else asText();
}

/** Says on stderr why stdout stays empty. */
export function notice(text: string): void {
  printError(dim(text));
}

export function printError(line: string): void {
  process.stderr.write(`${safe(line)}\n`);
}

/** Prints that `what` has begun, and then how long it took. Rethrows errors of `work`. */
export async function step<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  if (colour) textStream().write(`${dim("·")} ${what} …`);
  try {
    const result = await work();
    const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
    textStream().write(`${colour ? "\r\u001b[K" : ""}${green("✓")} ${what} ${dim(took)}\n`);
    return result;
  } catch (error) {
    textStream().write(`${colour ? "\r\u001b[K" : ""}${red("✗")} ${what}\n`);
    throw error;
  }
}

let verbose = false;

/** With `--verbose`, errors are shown with their stacks and log lines as they are. */
export function printVerbosely(on: boolean): void {
  verbose = on;
}

export const isVerbose = (): boolean => verbose;

/** An error that the person at the terminal can correct: shown without a stack. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** A command that was used wrongly: exit status 2. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
}

/** An error that no command expects has its stack with `--verbose` only. */
export function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (!(error instanceof Error)) return new CommandError(String(error));
  const message = error.message || error.name;
  return new CommandError(verbose ? (error.stack ?? message) : `${message}\n  (--verbose shows where it happened.)`);
}
