import { z } from "zod";
import type { AdoptedServer, ClaimedOutput, InstanceHandle, ServerDriver } from "../../port/servers.ts";
import { type FloodLimits, floodGate } from "../process/flood.ts";
import { plainProcess } from "../process/plain.ts";
import { type RunningProcess, restorableSchema } from "../process/running-process.ts";
import { ownerRuns } from "../process/tree.ts";
import { type CgroupLayout, sweepCgroups } from "../sandbox/cgroup-layout.ts";
import { existingSocketDirectory, sweepSocketDirectories } from "../sandbox/socket-directory.ts";
import { restoreSandboxed } from "../sandbox/spawn.ts";
import { superviseServer } from "../server/start-server.ts";
import type { Shim, Survivor } from "./client.ts";

/** The shim's record of a server that is ready, in memory. */
const keptSchema = z.object({
  instanceId: z.string(),
  secret: z.string(),
  socketDirectory: z.string(),
  memo: z.string(),
  running: restorableSchema,
});
type Kept = z.infer<typeof keptSchema>;

/** The shim's record of an interpreter that has forked servers (forks/), which end with it. */
const keptParentSchema = z.object({ socketDirectory: z.string(), running: restorableSchema });
type KeptParent = z.infer<typeof keptParentSchema>;

/** Lets a later runner adopt the server. */
export function keepServer(
  shim: Shim,
  { instanceId, endpoint: { secret } }: InstanceHandle,
  more: Omit<Kept, "instanceId" | "secret">,
): void {
  const { running } = more;
  const kept: Kept = { instanceId, secret, ...more };
  shim.keep(running.group, JSON.stringify(kept), running.kind === "sandbox" ? running.thaw : []);
}

/** Lets a later runner keep the parent of servers that it adopts. */
export function keepParent(shim: Shim, kept: KeptParent): void {
  const { running } = kept;
  shim.keep(running.group, JSON.stringify(kept), running.kind === "sandbox" ? running.thaw : []);
}

export type AdoptContext = {
  readonly shim: Shim;
  readonly cgroups: CgroupLayout;
  /** Whether socket directories are separate mounts. */
  readonly root: boolean;
  /** Parent of the socket directories. */
  readonly stateDirectory: string;
  readonly floodLimits: FloodLimits;
};

/** See `ServerDriver.adopt`. Start nothing in the shim meanwhile: it would count as a leftover. */
export async function adoptServers(
  context: AdoptContext,
  claim: Parameters<ServerDriver["adopt"]>[0],
): Promise<AdoptedServer[]> {
  const { shim, cgroups, root, stateDirectory } = context;
  const owner = await shim.owner();
  const groups = new Set<string>();
  const directories = new Set<string>();
  const survivors = await shim.survivors();
  const forks: { readonly parent: string; readonly exited: Promise<unknown> }[] = [];
  const adopted = await Promise.all(
    survivors.map(async (survivor) => {
      if (parseParent(survivor.memo) !== null) return [];
      const kept = parseKept(survivor.memo);
      const claimed = kept === null ? null : await claim({ instanceId: kept.instanceId, memo: kept.memo });
      const server = kept === null || claimed === null ? null : await adoptServer(context, survivor, kept, claimed);
      if (kept === null || server === null) {
        shim.discard(survivor.group);
        return [];
      }
      groups.add(survivor.group);
      directories.add(kept.socketDirectory);
      const parent = kept.running.kind === "sandbox" ? kept.running.parent : undefined;
      if (parent !== undefined) forks.push({ parent, exited: server.handle.exited });
      return [server];
    }),
  );
  for (const survivor of survivors) {
    const kept = parseParent(survivor.memo);
    if (kept === null) continue;
    const own = forks.filter(({ parent }) => parent === survivor.group).map(({ exited }) => exited);
    if (!(await adoptParent(context, survivor, kept, own))) {
      shim.discard(survivor.group);
      continue;
    }
    groups.add(survivor.group);
    directories.add(kept.socketDirectory);
  }
  // Also removes what an earlier shim left.
  await sweepCgroups(cgroups, async (by, name) => (by === owner ? groups.has(name) : await ownerRuns(by)));
  if (root)
    await sweepSocketDirectories(stateDirectory, async (by, path) =>
      by === owner ? directories.has(path) : await ownerRuns(by),
    );
  return adopted.flat();
}

function parseKept(memo: string | null): Kept | null {
  const kept = keptSchema.safeParse(memo === null ? null : JSON.parse(memo));
  return kept.success ? kept.data : null;
}

function parseParent(memo: string | null): KeptParent | null {
  const kept = keptParentSchema.strict().safeParse(memo === null ? null : JSON.parse(memo));
  return kept.success ? kept.data : null;
}

/** Keeps it until its forks have ended; false if none is left. Nothing more is forked from it. */
async function adoptParent(
  { cgroups, root }: AdoptContext,
  survivor: Survivor,
  { running, socketDirectory }: KeptParent,
  forks: readonly Promise<unknown>[],
): Promise<boolean> {
  if (forks.length === 0 || running.kind !== "sandbox") return false;
  const { main, others } = survivor.resume(running.pid, {}, () => {});
  if (main === null) return false;
  const parent = await restoreSandboxed(cgroups, running, main, others, { onLine: () => {} });
  void Promise.all(forks).then(() => parent.kill());
  void parent.ended.then(() => existingSocketDirectory(socketDirectory, root).remove());
  return true;
}

async function adoptServer(
  { cgroups, root, floodLimits }: AdoptContext,
  survivor: Survivor,
  { instanceId, secret, socketDirectory, running }: Kept,
  { onOutput, last }: ClaimedOutput,
): Promise<AdoptedServer | null> {
  const gate = floodGate(onOutput, floodLimits);
  const reader = { onLine: gate.line, gate };
  const onDropped = (bytes: number) =>
    onOutput("stdout", `… ${bytes} bytes of output lost while the runner was unreachable`, new Date());
  const after = { 1: last.stdout ?? 0, 2: last.stderr ?? 0 };
  const { main, others } = survivor.resume(running.pid, after, onDropped);
  if (main === null) return null;
  const restored: RunningProcess =
    running.kind === "plain"
      ? plainProcess(main, running.group, reader)
      : await restoreSandboxed(cgroups, running, main, others, reader);
  const isFrozen = await restored.isFrozen();
  const { handle } = superviseServer(
    restored,
    existingSocketDirectory(socketDirectory, root),
    { instanceId, secret },
    gate,
    { isReady: Promise.resolve(true), isFrozen },
  );
  return { handle, isFrozen };
}
