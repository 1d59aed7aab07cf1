/** Shorter parts of a path, such as `services`, are words that an answer may contain by itself. */
const minPart = 9;
/** Of a part that the end of the text cuts off, so many characters are replaced too. */
const minBeginning = 5;
const replacement = "…";

/**
 * A receiver's answer without the address that it was posted to: pages of errors often quote the path, which is a
 * credential, and every member reads the answer. Pure.
 */
export function withoutAddress(text: string, address: string): string {
  const url = new URL(address);
  const path = `${url.pathname}${url.search}`;
  const parts = [...url.pathname.split("/"), ...url.searchParams.values()].filter(({ length }) => length >= minPart);
  const quoted = [url.href, path, url.pathname, ...parts].filter(({ length }) => length > 1);
  const all = [...new Set(quoted.flatMap((each) => [each, decoded(each)]))].sort((a, b) => b.length - a.length);
  const end = all.map((each) => cutOffLength(text, each)).reduce((most, each) => Math.max(most, each), 0);
  const whole = end === 0 ? text : `${text.slice(0, -end)}${replacement}`;
  return all.reduce((left, each) => left.replaceAll(each, replacement), whole);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** How much of the text's end is the beginning of `part`: the text was shortened there. */
function cutOffLength(text: string, part: string): number {
  for (let length = part.length - 1; length >= minBeginning; length--)
    if (text.endsWith(part.slice(0, length))) return length;
  return 0;
}
