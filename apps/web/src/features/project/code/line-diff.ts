import { diff } from "@codemirror/merge";

/** A line of a diff. `numbers`: in the old and in the new text, from 1. */
export type DiffLine = {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly numbers: readonly [number | null, number | null];
};

/** Lines above and below a change that are shown, too. */
const around = 3;

/** The lines in which two texts differ, in groups with the lines around them. */
export function lineDiff(before: string, after: string): readonly (readonly DiffLine[])[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const lines: DiffLine[] = [];
  let [oldAt, nowAt] = [0, 0];
  const same = (end: number) => {
    for (; oldAt < end; oldAt++, nowAt++)
      lines.push({ kind: "same", text: old[oldAt] ?? "", numbers: [oldAt + 1, nowAt + 1] });
  };
  for (const [removed, oldEnd, nowEnd] of changedLines(old, now)) {
    same(removed);
    for (; oldAt < oldEnd; oldAt++) lines.push({ kind: "removed", text: old[oldAt] ?? "", numbers: [oldAt + 1, null] });
    for (; nowAt < nowEnd; nowAt++) lines.push({ kind: "added", text: now[nowAt] ?? "", numbers: [null, nowAt + 1] });
  }
  same(old.length);
  return grouped(lines);
}

/** Without the end of the last line. */
const linesOf = (text: string) => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));

type Changed = readonly [oldStart: number, oldEnd: number, nowEnd: number];

/** Without them, texts of a thousand lines with nothing in common take seconds. `timeout` in ms. */
const limits = { scanLimit: 500, timeout: 300 };
/** Characters that no half of a pair looks like. */
const maxDistinct = 0xd800;

function changedLines(old: readonly string[], now: readonly string[]): readonly Changed[] {
  // As a character for each distinct line, however long it is.
  const ids = new Map<string, number>();
  const coded = (lines: readonly string[]) => {
    for (const line of lines) if (!ids.has(line)) ids.set(line, ids.size);
    return lines.map((line) => String.fromCharCode(ids.get(line) ?? 0)).join("");
  };
  const [oldText, nowText] = [coded(old), coded(now)];
  if (ids.size > maxDistinct) return [[0, old.length, now.length]];
  return diff(oldText, nowText, limits).map(({ fromA, toA, toB }) => [fromA, toA, toB]);
}

function grouped(lines: readonly DiffLine[]): readonly (readonly DiffLine[])[] {
  const isShown = (index: number) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== "same");
  const groups: DiffLine[][] = [];
  let isOpen = false;
  for (const [index, line] of lines.entries()) {
    const shows = isShown(index);
    if (shows && !isOpen) groups.push([]);
    if (shows) groups.at(-1)?.push(line);
    isOpen = shows;
  }
  return groups;
}

/** Groups up to this many lines in all; the last one may be cut. */
export function firstLines(groups: readonly (readonly DiffLine[])[], most: number): readonly (readonly DiffLine[])[] {
  let left = most;
  return groups.flatMap((group) => {
    const shown = group.slice(0, Math.max(left, 0));
    left -= group.length;
    return shown.length > 0 ? [shown] : [];
  });
}
