/** A word of a POSIX shell. Words that need no quotes get none. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text in double quotes for a POSIX shell, with nothing expanded; shells of Windows take these quotes too. */
export const inQuotes = (text: string) => `"${text.replaceAll(/[\\"$`]/g, "\\$&")}"`;

/** A string of Python or JavaScript. */
export const quoted = (text: string) => JSON.stringify(text);

export const json = (value: unknown) => JSON.stringify(value, null, 2);

/** Base64 of the JSON of a value, for a query. `btoa` takes Latin-1 only. */
export function base64Json(value: unknown): string {
  return encodeURIComponent(btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value)))));
}
