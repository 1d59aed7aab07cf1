import { ownerRuns } from "./process/tree.ts";
import { findCgroups, readCgroupFacts, unusedCgroups } from "./sandbox/cgroup-layout.ts";
import { sweepSocketDirectories, unusedSocketDirectories } from "./sandbox/socket-directory.ts";
import { killOwner, lastOwner } from "./shim/shim-process.ts";

/** What killed processes of the platform left on this host. */
export type Leftovers = {
  /** Process id of a shim in the run directory, which keeps servers for the next runner; null: none runs. */
  readonly shim: number | null;
  /** Control groups of sandboxes whose platform has ended, of any instance. */
  readonly controlGroups: readonly string[];
  /** Mounted directories of such sandboxes, of any instance. */
  readonly mounts: readonly string[];
};

/** Looks for them. Changes nothing but the platform's own control group, which it makes as a start does. */
export async function findHostLeftovers(runDirectory: string): Promise<Leftovers> {
  const owner = await lastOwner({ directory: runDirectory });
  const shim = owner !== "" && (await ownerRuns(owner)) ? Number(owner.split("-")[0]) : null;
  const groups = await unusedCgroups(await readCgroupFacts().then(findCgroups), ownerRuns);
  return { shim, controlGroups: [...groups], mounts: await unusedSocketDirectories("", ownerRuns) };
}

/**
 * Ends the servers that a killed runner has left in this run directory. For an instance that stops: its runner may not have
 * ended hundreds of them in time.
 */
export async function endLeftServers(runDirectory: string): Promise<void> {
  const owner = await lastOwner({ directory: runDirectory });
  if (owner === "" || !(await ownerRuns(owner))) return;
  await killOwner(owner);
  await sweepSocketDirectories(runDirectory, async (by) => by !== owner);
}
