import type { OutputSink, OutputStream } from "../../port/execution.ts";
import type { StoredLines } from "../../port/servers.ts";

/** Lines before `ms` are stored, and the first `count` of that millisecond. */
type Mark = { readonly ms: number; count: number };

/**
 * Skips the lines of a log that are stored already, by their times, until the first that isn't: the clock may be set back
 * later. Also lines after those that this runner has kept itself: another one may have led since.
 */
export function unlessStored(onOutput: OutputSink, stored: StoredLines): OutputSink {
  const marks = new Map<OutputStream, Mark>();
  for (const stream of ["stdout", "stderr"] as const) {
    const mark = markOf(stream, stored);
    if (mark !== null) marks.set(stream, mark);
  }
  return (stream, line, time, sequence) => {
    const mark = marks.get(stream);
    if (mark !== undefined) {
      const ms = time.getTime();
      if (ms < mark.ms || (ms === mark.ms && mark.count-- > 0)) return;
      marks.delete(stream);
    }
    onOutput(stream, line, time, sequence);
  };
}

function markOf(stream: OutputStream, { lines, isAll }: StoredLines): Mark | null {
  const times = lines.filter((line) => line.stream === stream).map(({ time }) => time.getTime());
  if (times.length > 0) {
    // Lines that a runner had kept are stored later than newer ones of another.
    const ms = Math.max(...times);
    return { ms, count: times.filter((each) => each === ms).length };
  }
  // Its last stored line is older than all of these.
  const oldest = lines.at(-1);
  return isAll || oldest === undefined ? null : { ms: oldest.time.getTime(), count: 0 };
}
