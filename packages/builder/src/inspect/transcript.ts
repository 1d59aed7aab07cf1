import type { OutputSink } from "@towpath/runtime";
import type { BuildLogSink } from "../contract.ts";

const maxLines = 1_000;
const keptLines = 30;
const maxLineLength = 2_000;

export type Transcript = {
  readonly line: OutputSink;
  /** The last 30 lines, for a diagnosis. */
  readonly lastLines: () => readonly string[];
};

/** What an inspected server prints: into the build log up to 1,000 lines, and the end of it for the diagnosis. */
export function transcript(log: BuildLogSink): Transcript {
  const last: string[] = [];
  let count = 0;
  return {
    line: (_stream, line) => {
      last.push(line.slice(0, maxLineLength));
      if (last.length > keptLines) last.shift();
      count += 1;
      if (count <= maxLines) log("inspect", "output", line);
      if (count === maxLines)
        log(
          "inspect",
          "warning",
          `The server prints more than ${maxLines} lines while it starts: the rest is left out.`,
        );
    },
    lastLines: () => last,
  };
}
