import { RunnerError } from "@towpath/runner-api";
import type { Exit } from "@towpath/runtime";
import type { Instance } from "./instance.ts";
import { type LaunchFailure, wasStopped } from "./launch.ts";

/** When a caller may ask again for a server that is being built again. */
const rebuildAnswerMs = 5000;

/** Reports a start that failed. Returns it as one sentence without its period, and what lease callers get. */
export function reportFailedStart(
  instance: Instance,
  { reason, exit, code, late }: LaunchFailure,
  retryAfterMs: number,
) {
  const message = instance.didNotStart(reason, exit);
  const refusal = () => {
    if (code === "layers_lost") return new RunnerError(code, message, { retryAfterMs: rebuildAnswerMs });
    if (code === "isolation_unavailable") return new RunnerError(code, message);
    const more = late === null ? {} : { timedOut: { output: instance.takeShown()?.output ?? [], late } };
    return new RunnerError(code, `The server did not start: ${message}`, { retryAfterMs, ...more });
  };
  return { failure: message.replace(/\.$/, ""), refusal: refusal() };
}

/** Reports how a running server ended. Returns it as one sentence. */
export const reportEnd = (instance: Instance, exit: Exit, restartInMs: number): string =>
  wasStopped(exit) ? instance.stoppedFromOutside(exit) : instance.crashed(exit, restartInMs);
