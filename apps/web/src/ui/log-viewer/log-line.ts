import Anser from "anser";

/** A line of the viewer. Build logs and server logs are converted to it. */
export type LogLine = {
  /** The line number that is shown and linked to. Ascending. */
  id: number;
  /** ISO 8601 in UTC. The time of day is shown, with milliseconds. */
  time: string;
  text: string;
  /** `step`: a message of Towpath; `result`: its outcome. `output`: output of a tool or server. */
  tone: "step" | "result" | "output" | "warning" | "error" | "faint";
  /** Shown before the text: a phase or a stream. */
  tag?: string;
  /** For several lines: the only one shown until they are opened. */
  summary?: string;
  /** Link to the line's subject. */
  link?: { href: string; label: string };
};

/** Indexes of the texts that contain `query`, ignoring case. None for an empty query. */
export function findMatches(plainTexts: readonly string[], query: string): number[] {
  const needle = query.trim().toLowerCase();
  if (needle === "") return [];
  const found: number[] = [];
  plainTexts.forEach((text, index) => {
    if (text.toLowerCase().includes(needle)) found.push(index);
  });
  return found;
}

/** Splits `text` at every occurrence of `query`, so that matches can be highlighted. */
export function splitAtMatches(text: string, query: string): { text: string; match: boolean }[] {
  const needle = query.trim().toLowerCase();
  if (needle === "") return [{ text, match: false }];
  const lower = text.toLowerCase();
  // A lower case of another length would shift the positions: such a text gets no highlights.
  if (lower.length !== text.length) return [{ text, match: false }];
  const pieces: { text: string; match: boolean }[] = [];
  let from = 0;
  for (let at = lower.indexOf(needle); at !== -1; at = lower.indexOf(needle, from)) {
    if (at > from) pieces.push({ text: text.slice(from, at), match: false });
    pieces.push({ text: text.slice(at, at + needle.length), match: true });
    from = at + needle.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), match: false });
  return pieces;
}

type AnsiSegment = { text: string; color: string | null; bold: boolean; dim: boolean; underline: boolean };

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these patterns look for control characters
// What moves the cursor, sets a title or makes a link: OSC, CSI other than colors, single escapes, and the control
// characters that a terminal acts on. The patterns run in linear time: no nested repeats.
const operatingSystemCommand = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;
const otherSequence = /\u001b\[[0-9;?<=>]*[ -/]*[@-ln-~]|\u001b[^[\]]/g;
const controlCharacter = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f\u0080-\u009f]/g;
const colorSequence = /\u001b\[[0-9;]*m/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** The line as a terminal finally shows it: the text after the last carriage return, without cursor movements. */
function finalText(line: string): string {
  const bare = line.replace(operatingSystemCommand, "").replace(otherSequence, "");
  let end = bare.length;
  while (bare[end - 1] === "\r") end--;
  // lastIndexOf treats a negative index as 0.
  const start = end === 0 ? 0 : bare.lastIndexOf("\r", end - 1) + 1;
  return bare.slice(start, end).replace(controlCharacter, "");
}

function colorOf(name: string | null): string | null {
  if (!name) return null;
  const plain = name.replace(/^ansi-(bright-)?/, "");
  // Drop 256-color and RGB values: their contrast on our background is unknown.
  return names.includes(plain) ? `var(--ansi-${plain})` : null;
}

/** A log line as segments of styled text. Log lines are hostile input, so nothing in them becomes markup. */
export function parseAnsi(line: string): AnsiSegment[] {
  const shown = finalText(line);
  if (!shown.includes("\u001b")) {
    return shown === "" ? [] : [{ text: shown, color: null, bold: false, dim: false, underline: false }];
  }
  return Anser.ansiToJson(shown, { json: true, remove_empty: true, use_classes: true }).map((part) => ({
    text: part.content,
    color: colorOf(part.fg),
    bold: part.decorations.includes("bold"),
    dim: part.decorations.includes("dim"),
    underline: part.decorations.includes("underline"),
  }));
}

/** The line without colors, for search and copy. */
export function plainText(line: string): string {
  return finalText(line).replace(colorSequence, "");
}
