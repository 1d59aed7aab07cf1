/** Decodes the inside of a JSON string that was kept byte by byte and may have been cut in the middle. */
export function decodeString(bytes: string): string {
  const text = isAscii(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
  if (!text.includes("\\")) return text;
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    // Cut within an escape, or not JSON: the raw text is better than nothing.
    return text;
  }
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** A number or literal as written; undefined for anything else. */
export function decodeScalar(text: string): number | boolean | null | undefined {
  switch (text) {
    case "true":
      return true;
    case "false":
      return false;
    case "null":
      return null;
    default: {
      const number = Number(text);
      return Number.isNaN(number) ? undefined : number;
    }
  }
}
