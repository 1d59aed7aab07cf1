import Anser from "anser";

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

type AnsiSegment = { text: string; color: string | null; bold: boolean; dim: boolean; underline: boolean };

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
// Everything that moves a cursor, sets a title or makes a link: OSC, CSI other than colours, single escapes, and the
// control characters that a terminal would act on. Patterns are linear: no nested repeats.
const operatingSystemCommand = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;
const otherSequence = /\u001b\[[0-9;?<=>]*[ -/]*[@-ln-~]|\u001b[^[\]]/g;
const controlCharacter = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f\u0080-\u009f]/g;
const colourSequence = /\u001b\[[0-9;]*m/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** What a terminal would show of a line in the end: after the last carriage return, without cursor movements. */
function settle(line: string): string {
  const bare = line.replace(operatingSystemCommand, "").replace(otherSequence, "");
  let end = bare.length;
  while (bare[end - 1] === "\r") end--;
  // Of an empty prefix there is no last carriage return: a negative index would be taken for 0.
  const start = end === 0 ? 0 : bare.lastIndexOf("\r", end - 1) + 1;
  return bare.slice(start, end).replace(controlCharacter, "");
}

function colorOf(name: string | null): string | null {
  if (!name) return null;
  const plain = name.replace(/^ansi-(bright-)?/, "");
  // Colours of the 256 palette and RGB are dropped: their contrast on our background is not known.
  return names.includes(plain) ? `var(--ansi-${plain})` : null;
}

/** A log line as coloured pieces of text. It is hostile input and stays text: nothing here makes markup. */
export function parseAnsi(line: string): AnsiSegment[] {
  const settled = settle(line);
  if (!settled.includes("\u001b")) {
    return settled === "" ? [] : [{ text: settled, color: null, bold: false, dim: false, underline: false }];
  }
  return Anser.ansiToJson(settled, { json: true, remove_empty: true, use_classes: true }).map((part) => ({
    text: part.content,
    color: colorOf(part.fg),
    bold: part.decorations.includes("bold"),
    dim: part.decorations.includes("dim"),
    underline: part.decorations.includes("underline"),
  }));
}

/** The line without any colour, for search and copy. */
export function plainText(line: string): string {
  return settle(line).replace(colourSequence, "");
}
