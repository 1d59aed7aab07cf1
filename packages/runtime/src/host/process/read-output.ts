import type { OutputStream } from "../../port/execution.ts";
import type { HostedProcess, OutputChunk } from "./host.ts";
import { splitLines } from "./lines.ts";
import type { OutputReader } from "./running-process.ts";

// Reading a flood costs the platform's own CPU time, so a pipe is read at most at this rate. The writer then waits a
// little.
const windowMs = 100;
const bytesPerWindow = 4 * 1024 * 1024;

/**
 * How long after a line it counts as kept: longer than the turn of the event loop in which its reader keeps it, and
 * rare enough for a flood.
 */
const keptAfterMs = 20;

/** Reads what a command prints to its end. Resolves when it has ended. */
export async function readOutput(hosted: HostedProcess, reader: OutputReader): Promise<void> {
  await Promise.all([readStream("stdout", hosted, reader), readStream("stderr", hosted, reader)]);
}

function readStream(
  stream: OutputStream,
  hosted: HostedProcess,
  { onLine, onBytes, gate }: OutputReader,
): Promise<void> {
  const descriptor = stream === "stdout" ? 1 : 2;
  const pipe = hosted.output(descriptor);
  const splitter = splitLines(
    (line, bytes, position) => onLine(stream, line, bytes, position),
    gate && { isOpen: gate.isOpen, skip: (lines, bytes) => gate.skip(stream, lines, bytes) },
  );
  let complete = 0;
  let isKeeping = false;
  const keep = () => {
    isKeeping = false;
    hosted.kept(descriptor, complete);
  };
  let windowStart = Number.NEGATIVE_INFINITY;
  let windowBytes = 0;
  pipe.on("data", (chunk: OutputChunk) => {
    const before = complete;
    complete = splitter.push(chunk, chunk.position);
    if (complete > before && !isKeeping) {
      isKeeping = true;
      setTimeout(keep, keptAfterMs).unref();
    }
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
