import type { OutputSink, OutputStream } from "./execution.ts";

/** Lines from before there is a server that are kept for its log. */
const maxHeldLines = 100;

/** For drivers: keeps the newest lines of an interpreter until there is a server whose log they belong to. */
export function heldOutput() {
  let held: { readonly stream: OutputStream; readonly line: string; readonly sequence?: number | undefined }[] = [];
  let target: OutputSink | null = null;
  const sink: OutputSink = (stream, line, time, sequence) => {
    if (target !== null) return target(stream, line, time, sequence);
    held.push({ stream, line, sequence });
    if (held.length > maxHeldLines) held.shift();
  };
  return {
    sink,
    last: () => held.at(-1)?.line,
    /** What is held, as the beginning of the output of what is forked from the interpreter. */
    copyTo(to: OutputSink) {
      for (const { stream, line } of held) to(stream, line, new Date());
    },
    passOn(to: OutputSink) {
      target = to;
      // With the time of the claim: the server did not exist before.
      for (const { stream, line, sequence } of held) to(stream, line, new Date(), sequence);
      held = [];
    },
  };
}
