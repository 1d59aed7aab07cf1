import { constants } from "node:os";
import type { Exit } from "../port.ts";

// Some numbers have two names; the usual one comes first in the table (SIGABRT before SIGIOT).
const names = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .toReversed(),
);

/** Name of a signal by its number, for example 9 → SIGKILL. */
function signalName(number: number): string {
  return names.get(number) ?? `signal ${number}`;
}

/** How a process ended by itself. bubblewrap and shells say 128 + n for signal n. */
export function naturalExit(code: number | null, signal: string | null): Exit {
  if (signal !== null) return { reason: "signaled", code: null, signal };
  if (code !== null && code > 128 && code <= 128 + 64)
    return { reason: "signaled", code: null, signal: signalName(code - 128) };
  return { reason: "exited", code, signal: null };
}
