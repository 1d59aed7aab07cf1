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
  if (parent === null && launch.required) return none;
  const forked = parent === null ? null : await fork(parents, launch, parent, start);
  if (forked !== null) return forked;
  const outcome = await start(null);
  const reason = parents.whyNot(launch.kind);
  return outcome.ok && reason !== null ? { ...outcome, withoutForks: reason } : outcome;
}

/** Null if it failed and may be started without: until another fork is tried, all of its kind are. */
async function fork(
  parents: ForkParents,
  { kind, required }: ParentLaunch,
  parent: ForkParent,
  start: (from: ForkParent) => Promise<PrewarmOutcome>,
): Promise<PrewarmOutcome | null> {
  const failed = async (reason: string) => {
    // Else its own end is why.
    if (await parent.isAlive()) parents.block(kind, parent, reason);
    parent.left();
  };
  try {
    const outcome = await start(parent);
    if (outcome.ok) void outcome.interpreter.running.ended.then(() => parent.left());
    else await failed(outcome.reason);
    return outcome.ok || required ? outcome : null;
  } catch (error) {
    await failed(error instanceof Error ? error.message : String(error));
    if (required) throw error;
    return null;
  }
}
