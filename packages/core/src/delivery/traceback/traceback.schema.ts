/** A stack frame of the server's own code. `file` is relative to its root directory. */
type OwnFrame = { readonly file: string; readonly line: number; readonly name: string };

/** `exception`: the last line of a traceback, such as `ValueError: no`. `frame`: the innermost one of the server's own code. */
export type Raised = { readonly exception: string; readonly frame: OwnFrame | null };

/** Lines that are shown as they are, or `isFolded`: frames of frameworks, which readers skip. */
export type LineGroup<Line> = { readonly lines: readonly Line[]; readonly isFolded: boolean };

/** Where a sandbox has the server's code. */
const root = "/app/src/";
const maxInspected = 1000;

// In a group of exceptions each line begins with a bar.
const bar = /^ *\| ?/;
const start = /^(?: *\+ )?(?:Exception Group )?Traceback \(most recent call last\):/;
const frameLine = /^ {2}File "([^"]{1,500})", line (\d{1,9})(?:, in (.{1,300}))?$/;

// FastMCP 2 prints tracebacks by Rich, in a box; the exception follows it, indented.
const boxStart = /^ *╭─+ Traceback \(most recent call last\) ─+╮ *$/;
const boxFrame = /^ *│ (\/[^:]{1,500}):(\d{1,9}) in (.{1,300}?) *│ *$/;
const boxLine = /^ *│ ?(.*)│ *$/;
const boxEnd = /^ *╰─+╯ *$/;

type Part =
  | { readonly kind: "start" | "inside" | "other" }
  | { readonly kind: "frame"; readonly own: OwnFrame | null }
  | { readonly kind: "exception"; readonly text: string };

/** Tells what each line of a traceback is. Lines of one stream, in their order. */
function lineReader(): (line: string) => Part {
  let isInside = false;
  const readBox = boxReader();
  return (line) => {
    const inspected = line.slice(0, maxInspected);
    const boxed = readBox(inspected);
    if (boxed) return boxed;
    const text = inspected.replace(bar, "");
    if (start.test(text)) {
      isInside = true;
      return { kind: "start" };
    }
    if (!isInside) return { kind: "other" };
    const [, path, number, name = "<module>"] = frameLine.exec(text) ?? [];
    if (path !== undefined) return { kind: "frame", own: ownFrame(path, Number(number), name) };
    if (text.startsWith(" ") || text === "") return { kind: "inside" };
    isInside = false;
    return { kind: "exception", text };
  };
}

/** The same for a box; null outside of one. */
function boxReader(): (line: string) => Part | null {
  let state: "outside" | "inside" | "ended" = "outside";
  return (line) => {
    if (boxStart.test(line)) {
      state = "inside";
      return { kind: "start" };
    }
    if (state === "outside") return null;
    if (state === "ended") {
      state = "outside";
      return { kind: "exception", text: line.trim() };
    }
    const [, path, number, name = ""] = boxFrame.exec(line) ?? [];
    if (path !== undefined) return { kind: "frame", own: ownFrame(path, Number(number), name) };
    if (boxEnd.test(line)) state = "ended";
    return { kind: "inside" };
  };
}

function ownFrame(path: string, line: number, name: string): OwnFrame | null {
  const file = path.startsWith(root) ? path.slice(root.length) : null;
  return file === null || /(?:^|\/)(?:site-packages|\.venv)\//.test(file) ? null : { file, line, name };
}

/** What the last traceback in these lines says; null without a whole one. */
export const raisedIn = (lines: readonly string[]): Raised | null => everyRaisedIn(lines).at(-1) ?? null;

/** What each whole traceback in these lines says, in their order: of chained exceptions each is one. */
export function everyRaisedIn(lines: readonly string[]): readonly Raised[] {
  const read = lineReader();
  const raised: Raised[] = [];
  let frame: OwnFrame | null = null;
  for (const line of lines) {
    const part = read(line);
    if (part.kind === "start") frame = null;
    if (part.kind === "frame") frame = part.own ?? frame;
    if (part.kind === "exception") raised.push({ exception: part.text, frame });
  }
  return raised;
}

/** A folded run has at least so many frames: one is read faster than opened. */
const minFolded = 2;

/** Folds runs of frames of frameworks. Of a traceback without a frame of the server's own, the last one stays. */
export class FrameFolder<Line> {
  readonly #textOf: (line: Line) => string;
  readonly #read = lineReader();
  /** Frames with their lines of source that are held until the run ends. */
  #run: Line[][] = [];
  #hasOwn = false;
  #isInRun = false;

  constructor(textOf: (line: Line) => string) {
    this.#textOf = textOf;
  }

  /** What can be shown now: a run of frames only once it has ended. */
  push(line: Line): LineGroup<Line>[] {
    const part = this.#read(this.#textOf(line));
    if (part.kind === "frame" && part.own === null) {
      this.#run.push([line]);
      this.#isInRun = true;
      return [];
    }
    if (part.kind === "inside" && this.#isInRun) {
      this.#run.at(-1)?.push(line);
      return [];
    }
    if (part.kind === "start") this.#hasOwn = false;
    if (part.kind === "frame") this.#hasOwn = true;
    return [...this.#endRun(part.kind === "exception"), { lines: [line], isFolded: false }];
  }

  /** The rest, when no line follows. */
  end(): LineGroup<Line>[] {
    return this.#endRun(false);
  }

  #endRun(isLast: boolean): LineGroup<Line>[] {
    const frames = this.#run;
    this.#run = [];
    this.#isInRun = false;
    const shown = isLast && !this.#hasOwn ? frames.splice(-1) : [];
    const asTheyAre = (lines: Line[]) => lines.map((line) => ({ lines: [line], isFolded: false }));
    const folded = frames.length < minFolded ? asTheyAre(frames.flat()) : [{ lines: frames.flat(), isFolded: true }];
    return [...folded, ...asTheyAre(shown.flat())];
  }
}

/** All of a log at once; see `FrameFolder`. */
export function foldFrames<Line>(lines: readonly Line[], textOf: (line: Line) => string): LineGroup<Line>[] {
  const folder = new FrameFolder(textOf);
  return [...lines.flatMap((line) => folder.push(line)), ...folder.end()];
}

/**
 * The lines without the boxes that are around tracebacks of FastMCP 2: in a narrow place their borders break lines. Null:
 * a border, or nothing.
 */
export function withoutBoxes(lines: readonly string[]): readonly (string | null)[] {
  let state: "outside" | "inside" | "ended" = "outside";
  return lines.map((line) => {
    const inspected = line.slice(0, maxInspected);
    if (boxStart.test(inspected)) {
      state = "inside";
      return "Traceback (most recent call last):";
    }
    if (state === "ended") {
      state = "outside";
      return line.trim();
    }
    if (state === "outside") return line;
    if (boxEnd.test(inspected)) state = "ended";
    const [, content = null] = boxLine.exec(inspected) ?? [];
    return content?.trimEnd() || null;
  });
}

/** How many frames a folded run has, in words. */
export function foldedTitle(texts: readonly string[]): string {
  const isFrame = (text: string) => frameLine.test(text.replace(bar, "")) || boxFrame.test(text);
  const frames = texts.filter((text) => isFrame(text.slice(0, maxInspected))).length;
  return `${frames} frames of frameworks`;
}
