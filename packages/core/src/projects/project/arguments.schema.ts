import { z } from "zod";

// BLD-16: the words after a program's name. Browser, terminal and server validate alike.

const maxArguments = 50;
const maxCharacters = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const control = /[\u0000-\u001f\u007f]/;

/** The first problem of a program's arguments; null when there is none. */
export function argumentsProblem(words: readonly string[]): string | null {
  if (words.length > maxArguments) return `At most ${maxArguments} arguments`;
  for (const word of words) {
    if (word.length > maxCharacters) return `${word.slice(0, 20)}… is too long (max ${maxCharacters} characters)`;
    if (control.test(word) || !word.isWellFormed()) return "Arguments can't contain line breaks or control characters";
  }
  return null;
}

/** Absent in a new project: none. */
export const argumentsSchema = z
  .array(z.string(), { error: "Arguments must be a list of texts" })
  .superRefine((words, context) => {
    const problem = argumentsProblem(words);
    if (problem) context.addIssue({ code: "custom", message: problem });
  });

/**
 * Splits a command line at spaces. Single and double quotes keep spaces; a backslash outside of single quotes makes the
 * next character literal. Nothing else has a meaning: no variables, no patterns. Null for a quote that isn't closed.
 */
export function argumentWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\" && quote !== "'") {
      word = (word ?? "") + text.charAt(++at);
    } else if (character === quote) {
      quote = null;
    } else if (quote === null && (character === "'" || character === '"')) {
      quote = character;
      word ??= "";
    } else if (quote === null && /\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote !== null) return null;
  return word === null ? words : [...words, word];
}

/** The first problem of arguments that are written as one text. */
export function argumentsTextProblem(text: string): string | null {
  const words = argumentWords(text);
  return words === null ? "A quote is not closed" : argumentsProblem(words);
}

/** The words as a text that `argumentWords` reads. */
export const argumentsText = (words: readonly string[]): string =>
  words.map((word) => (/^[^\s'"\\]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
