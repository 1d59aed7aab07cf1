import { StatusDot, type Tone } from "~/ui/badge.tsx";
import { Callout } from "~/ui/callout.tsx";
import type { StreamState } from "./log-connection.ts";
import type { LogStream } from "./use-log-stream.ts";

const looks: Record<StreamState, { label: string; tone: Tone }> = {
  connecting: { label: "Connecting", tone: "neutral" },
  open: { label: "Live", tone: "ok" },
  reconnecting: { label: "Reconnecting", tone: "warn" },
  waiting: { label: "Paused", tone: "warn" },
  refused: { label: "Stopped", tone: "bad" },
  ended: { label: "Ended", tone: "neutral" },
};

/** Whether lines still come in. */
export function StreamStateLabel({ state }: { state: StreamState }) {
  const look = looks[state];
  return (
    <span role="status" className="inline-flex items-center gap-1.5 px-1.5 text-xs text-muted">
      <StatusDot tone={look.tone} pulse={state === "open" || state === "reconnecting"} />
      {look.label}
    </span>
  );
}

/** Why a log has stopped or paused; nothing while it is being read. */
export function StreamProblem({ stream: { state, problem } }: { stream: LogStream<unknown> }) {
  if (problem === null) return null;
  const stopped = state === "refused";
  return (
    <Callout tone={stopped ? "bad" : "warn"} title={stopped ? "The log has stopped" : "The log is paused"}>
      {problem}
    </Callout>
  );
}
