import type { Replacement, ReplacementEvent } from "./control.schema.ts";
import { describeFailure } from "./role-run.ts";
import type { SupervisedProcess } from "./supervised-process.ts";

/** Replaces the processes of roles one after another, and stops at the first one that does not get ready. */
export async function* replaceRoles(
  processes: readonly SupervisedProcess[],
  { roles }: Replacement,
): AsyncGenerator<ReplacementEvent> {
  for (const { name, command } of roles) {
    const process = processes.find((each) => each.name === name);
    if (process === undefined) continue;
    try {
      await process.replace(command);
    } catch (error) {
      yield { type: "failed", role: name, reason: describeFailure(error), isFormerRunning: !process.runsAlone };
      return;
    }
    yield { type: "replaced", role: name };
  }
  yield { type: "done" };
}
