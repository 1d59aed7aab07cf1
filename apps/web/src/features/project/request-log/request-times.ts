import type { RequestLogEntry } from "@towpath/logs/schema";

type Timed = Pick<RequestLogEntry, "durationMs" | "heldMs" | "serverMs">;

/** Parts of a request's time, milliseconds. `server` and `gateway` are null for rows without the distinction. */
export function timesOf({ durationMs, heldMs, serverMs }: Timed) {
  const rest = durationMs - heldMs;
  return {
    total: durationMs,
    held: heldMs,
    server: serverMs,
    gateway: serverMs === null ? null : Math.max(0, rest - serverMs),
  };
}

const reasons: Readonly<Record<string, string>> = {
  start_failed: "it did not start",
  layers_lost: "its files were lost",
  ended: "it exited at once",
  no_answer: "it did not answer",
  crash_backoff: "it keeps crashing",
  capacity: "the host was full",
  unavailable: "what runs servers was unreachable",
  stopping: "the runner was stopping",
  isolation_unavailable: "the host has no sandbox",
  unreachable: "the runner was unreachable",
  timeout: "it took too long",
};

export type Wait = { readonly what: string; readonly ms: number | null };

/** The waits of a request, in order; empty if its server was ready. */
export function waitsOf({ startAttempt }: Pick<RequestLogEntry, "startAttempt">): Wait[] {
  if (startAttempt === null) return [];
  const { outcome, placeMs, startMs, wakeMs, reason } = startAttempt;
  if (outcome === "failed") {
    return [{ what: `The server couldn't start: ${reasons[reason ?? ""] ?? reason ?? "unknown"}`, ms: null }];
  }
  if (outcome === "asleep")
    return [{ what: "Nothing: the build's recorded lists answered, and the server stayed asleep", ms: null }];
  const waits: Wait[] = [];
  if (placeMs !== null && placeMs >= 1) waits.push({ what: "A free slot on the host", ms: placeMs });
  if (outcome === "started") waits.push({ what: "The server's start", ms: startMs });
  if (outcome === "woken") waits.push({ what: "The server's waking", ms: wakeMs });
  if (outcome === "ready") waits.push({ what: "The runner's answer: the server was ready", ms: null });
  return waits;
}
