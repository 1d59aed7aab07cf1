/** jsonb rejects NUL and unpaired surrogates, which texts of tenants' servers may have. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

/** Line breaks, characters that control terminals, and those that change the direction of text. */
const unseen = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu;

/** On one line of at most `max` characters, with its end marked if it is shortened. Always storable. */
export function oneLine(text: string, max: number): string {
  const line = text.replace(unseen, " ").trim();
  if (line.length <= max) return line.toWellFormed();
  // Half of a character that takes two would be left.
  return `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`.toWellFormed();
}
