import type { OutputSink, OutputStream } from "../../port/execution.ts";

/** How much one server may write to its log. Lines beyond that are counted and dropped (RUN-5). */
export type FloodLimits = {
  readonly linesPerSecond: number;
  readonly bytesPerSecond: number;
  /** Size of a burst, in seconds of the rates above. */
  readonly burstSeconds: number;
};

export const defaultFloodLimits: FloodLimits = { linesPerSecond: 500, bytesPerSecond: 256 * 1024, burstSeconds: 10 };

const reportEveryMs = 1000;

export type FloodGate = {
  readonly line: (stream: OutputStream, line: string, bytes: number, sequence?: number) => void;
  /** Whether the next line is passed on. */
  isOpen(): boolean;
  /** Counts lines as dropped without decoding them. */
  skip(stream: OutputStream, lines: number, bytes: number): void;
  /** Logs what was dropped since the last report. */
  flush(): void;
};

/**
 * Limits lines with two token buckets: lines and bytes per second. Reports the number of dropped lines in a line of its
 * own, at most once a second, in the order of the stream.
 */
export function floodGate(sink: OutputSink, limits: FloodLimits, now: () => number = Date.now): FloodGate {
  let lines = limits.linesPerSecond * limits.burstSeconds;
  let bytes = limits.bytesPerSecond * limits.burstSeconds;
  let filledAt = now();
  let dropped = 0;
  let droppedBytes = 0;
  let reportedAt = 0;
  let lastStream: OutputStream = "stdout";

  const refill = (time: number) => {
    const seconds = Math.max(0, time - filledAt) / 1000;
    filledAt = time;
    lines = Math.min(limits.linesPerSecond * limits.burstSeconds, lines + seconds * limits.linesPerSecond);
    bytes = Math.min(limits.bytesPerSecond * limits.burstSeconds, bytes + seconds * limits.bytesPerSecond);
  };
  const report = (time: number) => {
    if (dropped === 0) return;
    const text = `… ${dropped} lines (${droppedBytes} bytes) dropped: more than ${limits.linesPerSecond} lines or ${limits.bytesPerSecond} bytes a second`;
    dropped = 0;
    droppedBytes = 0;
    reportedAt = time;
    sink(lastStream, text, new Date(time));
  };
  const drop = (stream: OutputStream, time: number, count: number, size: number) => {
    lastStream = stream;
    dropped += count;
    droppedBytes += size;
    if (time - reportedAt >= reportEveryMs) report(time);
  };
  const isOpen = (time: number) => {
    refill(time);
    // A line is passed on whole, so the bucket may go below zero once.
    return lines >= 1 && bytes > 0;
  };
  return {
    isOpen: () => isOpen(now()),
    skip: (stream, count, size) => drop(stream, now(), count, size),
    line(stream, line, size, sequence) {
      const time = now();
      if (!isOpen(time)) return drop(stream, time, 1, size);
      lastStream = stream;
      report(time);
      lines -= 1;
      bytes -= size;
      sink(stream, line, new Date(time), sequence);
    },
    flush() {
      report(now());
    },
  };
}
