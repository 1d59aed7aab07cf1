import type { Readable } from "node:stream";
import type { OutputStream } from "../../port/execution.ts";
import { splitLines } from "./lines.ts";
import type { OutputReader } from "./running-process.ts";

// Reading a flood costs the platform's own CPU time, so a pipe is read at most at this rate. The writer then waits a
// little.
const windowMs = 100;
const bytesPerWindow = 4 * 1024 * 1024;

/** Reads a pipe to its end. Resolves when it has ended. */
export function readOutput(
  stream: OutputStream,
  pipe: Readable,
  { onLine, onBytes, gate }: OutputReader,
): Promise<void> {
  const splitter = splitLines(
    (line, bytes) => onLine(stream, line, bytes),
    gate && { isOpen: gate.isOpen, skip: (lines, bytes) => gate.skip(stream, lines, bytes) },
  );
  let windowStart = Number.NEGATIVE_INFINITY;
  let windowBytes = 0;
  pipe.on("data", (chunk: Buffer) => {
    splitter.push(chunk);
    onBytes?.(chunk.length);
    const now = performance.now();
    if (now - windowStart >= windowMs) {
      windowStart = now;
      windowBytes = 0;
    }
    windowBytes += chunk.length;
    if (windowBytes < bytesPerWindow) return;
    pipe.pause();
    setTimeout(() => pipe.resume(), windowStart + windowMs - now).unref();
  });
  return new Promise((resolve) => {
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      splitter.end();
      resolve();
    };
    pipe.once("end", end);
    pipe.once("close", end);
    pipe.once("error", end);
  });
}
