import type { RunOptions } from "../../port/builds.ts";
import type { Exit, ExitReason } from "../../port/execution.ts";
import type { SandboxSpec } from "../engine.ts";
import type { Spawner } from "./running-process.ts";

/** Counted for each line in addition to its text: otherwise millions of empty lines would pass the limit. */
const lineOverheadBytes = 32;

/** Runs a command to its end. The time limit, the output limit or the abort signal kills it and becomes the reason. */
export async function runToEnd(spawn: Spawner, spec: SandboxSpec, options: RunOptions): Promise<Exit> {
  if (options.signal?.aborted) return { reason: "stopped", code: null, signal: null };
  const limit = Promise.withResolvers<ExitReason>();
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
    if (bytes > options.outputBytes) limit.resolve("output-limit");
  };
  const isOpen = () => bytes <= options.outputBytes;
  const running = await spawn(spec, {
    onLine: (stream, line) => {
      count(lineOverheadBytes);
      if (isOpen()) options.onOutput(stream, line, new Date());
    },
    onBytes: count,
    gate: { isOpen, skip: () => {} },
  });
  const onAbort = () => limit.resolve("stopped");
  const timer = setTimeout(() => limit.resolve("timed-out"), options.timeoutMs);
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted) onAbort();
  try {
    const first = await Promise.race([running.ended, limit.promise]);
    if (typeof first !== "string") return bytes > options.outputBytes ? ended("output-limit") : first;
    await running.kill();
    await running.ended;
    return ended(first);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}

function ended(reason: ExitReason): Exit {
  return { reason, code: null, signal: null };
}
