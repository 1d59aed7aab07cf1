/* Texts for GitHub. Names of tools, branches and messages come from strangers' code, the rest is ours (BLD-8). */

const maxLength = 120;
/** Of a sentence of a diagnosis. */
export const maxSentence = 2_000;

/** What would end a code span or a cell of a table, as a character that looks like it. */
const lookAlikes: Readonly<Record<string, string>> = { "`": "ˋ", "|": "｜", "\\": "＼" };

/**
 * A stranger's text as a code span: no Markdown, HTML, link or mention is found in it, also in a table. Characters that
 * aren't seen, such as those that turn the direction of text, are dropped.
 */
export function code(text: string, max = maxLength): string {
  const line = text.replace(/\s+/gu, " ").replace(/[\p{C}\u2028\u2029]/gu, "");
  const safe = line.replace(/[`|\\]/g, (character) => lookAlikes[character] ?? "").trim();
  return `\`${shortened(safe, max) || "(no name)"}\``;
}

/** Ends with … where characters were left out. Counts and cuts by code points, so that it halves none. */
export function shortened(text: string, max: number): string {
  const points = [...text];
  return points.length <= max
    ? text
    : `${points
        .slice(0, max - 1)
        .join("")
        .trimEnd()}…`;
}

/** Whole lines only: a span that is cut would let loose what it holds. */
export function cutToLines(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, text.lastIndexOf("\n", max))}\n\nThere is more on Towpath's pages.`;
}

/** A link to one of our own addresses; `text` is Markdown. */
export const link = (text: string, url: string): string => `[${text}](<${encodeURI(decodeSafely(url))}>)`;

function decodeSafely(url: string): string {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

/** `1 tool`, `2 tools`; with thousands separated. */
export const counted = (count: number, singular: string, plural = `${singular}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
