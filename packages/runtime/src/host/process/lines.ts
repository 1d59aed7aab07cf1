import { lineCutMark, maxLineBytes } from "../../port/execution.ts";

const newline = 0x0a;

export type LineSplitter = {
  /**
   * Lines may span chunks. `position`: of its first byte in all of the output, where that isn't where the last chunk
   * ended. Returns the position after the last complete line.
   */
  push(chunk: Buffer, position?: number): number;
  /** Emits the rest, which has no line end. */
  end(): void;
};

/** While it is closed, lines are counted without being decoded, so that a flood of short lines costs little. */
export type LineGate = { isOpen(): boolean; skip(lines: number, bytes: number): void };

/**
 * Splits bytes into lines. Keeps at most `maxLineBytes` of a line in memory and drops the rest. `onLine` gets a line, its
 * size with the line end, and the position after it.
 */
export function splitLines(
  onLine: (line: string, bytes: number, position: number) => void,
  gate?: LineGate,
): LineSplitter {
  let next = 0;
  let complete = 0;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let lostBytes = 0;

  const emit = (position: number) => {
    const text = Buffer.concat(held).toString("utf8");
    const size = heldBytes + lostBytes;
    const cut = lostBytes > 0;
    held = [];
    heldBytes = 0;
    lostBytes = 0;
    onLine(storableText(text.replace(/\r$/, "")) + (cut ? lineCutMark : ""), size + 1, position);
  };
  const hold = (part: Buffer) => {
    const room = maxLineBytes - heldBytes;
    const kept = part.subarray(0, room);
    // A copy: a slice would keep the whole chunk alive.
    if (kept.length > 0) held.push(Buffer.from(kept));
    heldBytes += kept.length;
    lostBytes += part.length - kept.length;
  };
  return {
    push(chunk, position = next) {
      // The bytes in between are lost.
      if (position !== next && heldBytes + lostBytes > 0) emit(next);
      next = position + chunk.length;
      let from = 0;
      for (;;) {
        const at = chunk.indexOf(newline, from);
        if (at === -1) break;
        hold(chunk.subarray(from, at));
        emit(position + at + 1);
        from = at + 1;
        if (gate !== undefined && !gate.isOpen()) {
          const end = chunk.lastIndexOf(newline) + 1;
          if (end > from) gate.skip(countLines(chunk, from, end), end - from);
          from = Math.max(from, end);
        }
        complete = position + from;
      }
      hold(chunk.subarray(from));
      return complete;
    },
    end() {
      if (heldBytes + lostBytes > 0) emit(next);
    },
  };
}

function countLines(chunk: Buffer, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index += 1) if (chunk[index] === newline) count += 1;
  return count;
}

/** Replaces what PostgreSQL or UTF-8 can't store, NUL and lone surrogates, with U+FFFD. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();
