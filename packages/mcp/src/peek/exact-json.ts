/** Text access of the JSON parser, which TypeScript's library doesn't know yet. */
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
