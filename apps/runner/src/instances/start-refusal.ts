import { RunnerError } from "@towpath/runner-api";
import type { Instance } from "./instance.ts";
import type { LaunchFailure } from "./launch.ts";

/** When a caller may ask again for a server that is being built again. */
const rebuildAnswerMs = 5000;

/** What lease callers get for a start that failed. */
export function refusalOf(
  { code, late }: LaunchFailure,
  message: string,
  retryAfterMs: number,
  instance: Pick<Instance, "takeShown">,
): RunnerError {
  if (code === "layers_lost") return new RunnerError(code, message, { retryAfterMs: rebuildAnswerMs });
  if (code === "isolation_unavailable") return new RunnerError(code, message);
  const more = late === null ? {} : { timedOut: { output: instance.takeShown()?.output ?? [], late } };
  return new RunnerError(code, `The server did not start: ${message}`, { retryAfterMs, ...more });
}
