import { ownerRuns } from "./process/tree.ts";
import { findCgroups, readCgroupFacts, unusedCgroups } from "./sandbox/cgroup-layout.ts";
import { unusedSocketDirectories } from "./sandbox/socket-directory.ts";
import { lastOwner } from "./shim/shim-process.ts";

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
