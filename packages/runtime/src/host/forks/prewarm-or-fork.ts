import type { ParentLaunch, PrewarmLaunch, PrewarmOutcome } from "../prewarm/prewarm-server.ts";
import type { SandboxPlan } from "../sandbox/arguments.ts";
import type { HostFacts } from "../sandbox/host.ts";
import { seccompFilter } from "../sandbox/seccomp.ts";
import type { ForkParent, ForkParents } from "./fork-parents.ts";

/** Whether this host can fork interpreters: it takes users of its own for them, which only root can give. */
export function canFork({ root, architecture }: HostFacts, kernel: SandboxPlan["kernel"]): boolean {
  return root && kernel === "host" && seccompFilter(architecture) !== null;
}

/**
 * Starts an interpreter that waits, as a fork where that is possible and else from nothing.
 *
 * @param start starts it, as a fork of the given one
 */
export async function prewarmOrFork(
  parents: ForkParents | null,
  { parent: launch, startTimeoutMs }: PrewarmLaunch,
  start: (from: ForkParent | null) => Promise<PrewarmOutcome>,
): Promise<PrewarmOutcome> {
  const none: PrewarmOutcome = { ok: false, reason: "nothing to fork it from", isFinal: false };
  if (launch === undefined || parents === null) return launch?.required === true ? none : await start(null);
  const parent = await parents.of(launch, startTimeoutMs);
  if (parent === null) return launch.required ? none : await start(null);
  try {
    const outcome = await start(parent);
    if (outcome.ok) {
      void outcome.interpreter.running.ended.then(() => parent.left());
      return outcome;
    }
    await failed(parents, launch, parent);
    if (launch.required) return outcome;
  } catch (error) {
    await failed(parents, launch, parent);
    if (launch.required) throw error;
  }
  return await start(null);
}

/** Until another one is tried, servers of this kind start without forks, unless the parent is gone for another reason. */
async function failed(parents: ForkParents, { kind }: ParentLaunch, parent: ForkParent): Promise<void> {
  if (!parent.isOver) await parents.block(kind);
  parent.left();
}
