import { RunnerError } from "@towpath/runner-api";
import type { Exit } from "@towpath/runtime";
import type { Instance } from "./instance.ts";
import { type LaunchFailure, wasStopped } from "./launch.ts";

/** When to request a server again that is being rebuilt. */
const rebuildAnswerMs = 5000;

/**
 * Reports a start that failed. Returns it as one sentence without its period, and the errors for lease callers:
 * `refusal` at once, `lost` until the back-off ends, if layers are lost.
 */
export function reportFailedStart(
  instance: Instance,
  { reason, exit, code, late, rebuildAt }: LaunchFailure,
  retryAfterMs: number,
) {
  const message = instance.didNotStart(reason, exit);
  const lost =
    code === "layers_lost"
      ? () => {
          const waitMs = (rebuildAt?.getTime() ?? 0) - Date.now();
          return new RunnerError(code, message, { retryAfterMs: Math.max(rebuildAnswerMs, waitMs) });
        }
      : null;
  const refusal = () => {
    if (lost) return lost();
    if (code === "isolation_unavailable") return new RunnerError(code, message);
    const more = late === null ? {} : { timedOut: { output: instance.takeShown()?.output ?? [], late } };
    return new RunnerError(code, `The server did not start: ${message}`, { retryAfterMs, ...more });
  };
  return { failure: message.replace(/\.$/, ""), refusal: refusal(), lost };
}

/** Reports how a running server ended. Returns it as one sentence. */
export const reportEnd = (instance: Instance, exit: Exit, restartInMs: number): string =>
  wasStopped(exit) ? instance.stoppedFromOutside(exit) : instance.crashed(exit, restartInMs);
