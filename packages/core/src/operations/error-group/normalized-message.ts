const maxInspected = 1000;
const maxLength = 200;
const placeholder = "…";

/** In this order: what contains others comes first. */
const values: readonly RegExp[] = [
  /\bhttps?:\/\/[^\s'"`<>]+/g,
  /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  // An apostrophe within a word begins no quotation.
  /(?<!\w)"(?:[^"\\]|\\.)*"/g,
  /(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)/g,
  /(?<!\w)`[^`]*`/g,
  /(?<![\w.])\/[\w.@%+-]+(?:\/[\w.@%+-]*)+/g,
  // Numbers, times, addresses, UUIDs, hashes and ids.
  /(?<![\w.:+-])[\w.:+-]*\d[\w.:%-]*/g,
  /\{[^{}]*\}|\[[^[\]]*\]/g,
];

/** A message without its values, so that the same failure of other calls has the same text. At most 200 characters. */
export function normalizedMessage(message: string): string {
  const text = values.reduce((left, pattern) => left.replace(pattern, placeholder), message.slice(0, maxInspected));
  // Of a list, one element stays: lists differ in length.
  const once = text.replace(/…(?:[\s,;:/]*…)+/g, placeholder);
  return once.replace(/\s+/g, " ").trim().slice(0, maxLength);
}
