import { z } from "zod";

// BLD-16: a program's arguments. Browser, terminal and server validate alike.

const maxArguments = 50;
const maxCharacters = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const control = /[\u0000-\u001f\u007f]/;

/** The first problem of a program's arguments; null when there is none. */
export function argumentsProblem(argv: readonly string[]): string | null {
  if (argv.length > maxArguments) return `At most ${maxArguments} arguments`;
  for (const argument of argv) {
    if (argument.length > maxCharacters)
      return `${argument.slice(0, 20)}… is too long (max ${maxCharacters} characters)`;
    if (control.test(argument) || !argument.isWellFormed())
      return "Arguments can't contain line breaks or control characters";
  }
  return null;
}

/** Absent in a new project: none. */
export const argumentsSchema = z
  .array(z.string(), { error: "Arguments must be a list of texts" })
  .superRefine((argv, context) => {
    const problem = argumentsProblem(argv);
    if (problem) context.addIssue({ code: "custom", message: problem });
  });

/**
 * Splits a command line at spaces. Single and double quotes keep spaces; a backslash outside of single quotes makes the
 * next character literal. Nothing else has a meaning: no variables, no patterns. Null for a quote that isn't closed.
 */
export function splitArguments(text: string): readonly string[] | null {
  const argv: string[] = [];
  let argument: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\" && quote !== "'") {
      argument = (argument ?? "") + text.charAt(++at);
    } else if (character === quote) {
      quote = null;
    } else if (quote === null && (character === "'" || character === '"')) {
      quote = character;
      argument ??= "";
    } else if (quote === null && /\s/.test(character)) {
      if (argument !== null) argv.push(argument);
      argument = null;
    } else {
      argument = (argument ?? "") + character;
    }
  }
  if (quote !== null) return null;
  return argument === null ? argv : [...argv, argument];
}

/** The first problem of arguments that are written as one text. */
export function argumentsTextProblem(text: string): string | null {
  const argv = splitArguments(text);
  return argv === null ? "A quote is not closed" : argumentsProblem(argv);
}

/** The arguments as a text that `splitArguments` reads. */
export const argumentsText = (argv: readonly string[]): string =>
  argv
    .map((argument) => (/^[^\s'"\\]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`))
    .join(" ");
