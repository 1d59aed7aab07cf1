/** Text access of the JSON parser, which is missing in TypeScript's library. */
const rawJson = (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON;

/**
 * Parses JSON so that `JSON.stringify` writes each number as it was: schemas may hold numbers that JavaScript would
 * round or spell differently.
 *
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, keepNumber);
}

function keepNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  return typeof value === "number" && source !== undefined && String(value) !== source ? rawJson(source) : value;
}
