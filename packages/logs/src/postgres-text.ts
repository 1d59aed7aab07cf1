/** PostgreSQL text cannot hold NUL; lone surrogates are not UTF-8. Both become U+FFFD, and the text is cut. */
export function toPostgresText(text: string | null, maxLength: number): string | null {
  if (text === null) return null;
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  return unstorable.test(cut) ? cut.replaceAll("\0", "\uFFFD").toWellFormed() : cut;
}

const unstorable = /[\0\ud800-\udfff]/;

/**
 * JSON text that `jsonb` accepts, or null. `JSON.stringify` escapes NUL and lone surrogates, and jsonb refuses
 * exactly those escapes; pairs of surrogates come out literally, so an escaped surrogate is always a lone one.
 */
export function toPostgresJson(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const json = JSON.stringify(value);
  if (json === undefined) return null;
  if (!json.includes("\\u")) return json;
  return json.replace(/\\(?:u([0-9a-f]{4})|.)/g, (escaped, hex: string | undefined) =>
    hex !== undefined && (hex === "0000" || /^d[89a-f]/.test(hex)) ? "\\ufffd" : escaped,
  );
}

/**
 * A column of values as PostgreSQL's array literal, in a third of the time that the driver takes for a general array.
 * Every text is quoted, with its quotes and backslashes escaped, so that none can end an element.
 */
export function toArrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  let literal = "{";
  // By index: this runs for every value of every row.
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? null;
    if (at > 0) literal += ",";
    if (value === null) literal += "NULL";
    else if (typeof value !== "string") literal += String(value);
    else if (needsEscape.test(value)) literal += `"${value.replace(/["\\]/g, "\\$&")}"`;
    else literal += `"${value}"`;
  }
  return `${literal}}`;
}

const needsEscape = /["\\]/;
