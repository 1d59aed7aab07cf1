import type { OutputSink } from "@towpath/runtime";
import type { BuildLogSink } from "../contract.ts";

const maxLines = 1_000;
const maxKeptLines = 30;
const maxLineLength = 2_000;

export type Transcript = {
  readonly line: OutputSink;
  /** The last 30 lines, for a diagnosis. */
  readonly lastLines: () => readonly string[];
};

/** Writes a server's output to the build log, up to 1,000 lines, and keeps its last lines for a diagnosis. */
export function transcript(log: BuildLogSink): Transcript {
  const last: string[] = [];
  let count = 0;
  return {
    line: (_stream, line) => {
      last.push(line.slice(0, maxLineLength));
      if (last.length > maxKeptLines) last.shift();
      count += 1;
      if (count <= maxLines) log("inspect", "output", line);
      if (count === maxLines)
        log(
          "inspect",
          "warning",
          `The server printed more than ${maxLines} lines while starting; the rest is omitted.`,
        );
    },
    lastLines: () => last,
  };
}
