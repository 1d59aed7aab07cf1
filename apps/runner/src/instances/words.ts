import type { Exit, StartResult } from "@towpath/runtime";

/** How a server ended, in words for its owner. */
export function exitWords(exit: Exit | null, memoryBytes: number): string {
  if (exit === null) return "it ended";
  switch (exit.reason) {
    case "out-of-memory":
      return `it used more than its ${Math.round(memoryBytes / (1024 * 1024))} MiB of memory`;
    case "signaled":
      return `it was ended by ${exit.signal}`;
    case "exited":
      return `it ended by itself with exit status ${exit.code}`;
    default:
      return `it ended (${exit.reason})`;
  }
}

/** Why a server did not start, in words for its owner. */
export function startFailureWords(
  result: Extract<StartResult, { ok: false }>,
  timeoutMs: number,
  memoryBytes: number,
): string {
  if (result.status !== null) return result.status.message;
  if (result.cause === "timeout") return `it did not answer within ${Math.round(timeoutMs / 1000)} s`;
  return exitWords(result.exit, memoryBytes);
}
