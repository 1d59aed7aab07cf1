/** What the viewer shows; build and server logs are turned into it. */
export type LogLine = {
  /** The number that is shown and linked to, rising. */
  id: number;
  /** ISO 8601; shown as hours to milliseconds, UTC. */
  time: string;
  text: string;
  /** `step`: what Towpath says. `output`: what a tool or server printed. */
  tone: "step" | "output" | "warning" | "error" | "faint";
  /** A short word before the text: a phase or a stream. */
  tag?: string;
};

/** Positions in `lines` whose text contains `query`, case-insensitively; none for an empty query. */
export function findMatches(plainTexts: readonly string[], query: string): number[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [];
  const found: number[] = [];
  plainTexts.forEach((text, index) => {
    if (text.toLowerCase().includes(wanted)) found.push(index);
  });
  return found;
}

/** Cuts `text` at every occurrence of `query`, so that the matches can be marked. */
export function splitAtMatches(text: string, query: string): { text: string; match: boolean }[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [{ text, match: false }];
  const lower = text.toLowerCase();
  // A letter whose lower case has another length would shift every position: such a text is shown unmarked.
  if (lower.length !== text.length) return [{ text, match: false }];
  const pieces: { text: string; match: boolean }[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, from)) {
    if (at > from) pieces.push({ text: text.slice(from, at), match: false });
    pieces.push({ text: text.slice(at, at + wanted.length), match: true });
    from = at + wanted.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), match: false });
  return pieces;
}
