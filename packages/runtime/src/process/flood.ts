import type { OutputSink, OutputStream } from "../port.ts";

/** What one server may write to its log. Above it lines are counted and dropped, never an error (RUN-5). */
export type FloodLimits = {
  readonly linesPerSecond: number;
  readonly bytesPerSecond: number;
  /** How many seconds' worth may come at once. */
  readonly burstSeconds: number;
};

export const defaultFloodLimits: FloodLimits = { linesPerSecond: 500, bytesPerSecond: 256 * 1024, burstSeconds: 10 };

const noteEveryMs = 1000;

export type FloodGate = {
  readonly line: (stream: OutputStream, line: string, bytes: number) => void;
  /** Says what was dropped since the last note. */
  flush(): void;
};

/**
 * Passes lines on as long as two token buckets (lines and bytes a second) last. What is dropped is said in a line of
 * its own, at most once a second, in the order of the stream.
 */
export function floodGate(sink: OutputSink, limits: FloodLimits, now: () => number = Date.now): FloodGate {
  let lines = limits.linesPerSecond * limits.burstSeconds;
  let bytes = limits.bytesPerSecond * limits.burstSeconds;
  let filledAt = now();
  let dropped = 0;
  let droppedBytes = 0;
  let notedAt = 0;
  let lastStream: OutputStream = "stdout";

  const refill = (time: number) => {
    const seconds = Math.max(0, time - filledAt) / 1000;
    filledAt = time;
    lines = Math.min(limits.linesPerSecond * limits.burstSeconds, lines + seconds * limits.linesPerSecond);
    bytes = Math.min(limits.bytesPerSecond * limits.burstSeconds, bytes + seconds * limits.bytesPerSecond);
  };
  const note = (time: number) => {
    if (dropped === 0) return;
    const text = `… ${dropped} lines (${droppedBytes} bytes) dropped: more than ${limits.linesPerSecond} lines or ${limits.bytesPerSecond} bytes a second`;
    dropped = 0;
    droppedBytes = 0;
    notedAt = time;
    sink(lastStream, text, new Date(time));
  };
  return {
    line(stream, line, size) {
      const time = now();
      refill(time);
      lastStream = stream;
      // A whole line is passed on or none of it: the bucket may go below zero once.
      if (lines < 1 || bytes <= 0) {
        dropped += 1;
        droppedBytes += size;
        if (time - notedAt >= noteEveryMs) note(time);
        return;
      }
      note(time);
      lines -= 1;
      bytes -= size;
      sink(stream, line, new Date(time));
    },
    flush() {
      note(now());
    },
  };
}
