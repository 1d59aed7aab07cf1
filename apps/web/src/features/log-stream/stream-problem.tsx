import { Callout } from "~/ui/callout.tsx";
import type { LogStream } from "./use-log-stream.ts";

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
