import type { RuntimeDriver } from "@towpath/runtime";
import type { Budget } from "../places/placement.ts";

/** A kind of interpreter that servers of one organization could use. */
export type Demand = {
  /** Names the kind; includes the organization. */
  readonly kind: string;
  readonly organizationId: string;
  /** Servers of this kind that do not run, so that several may start at once. */
  readonly idleServers: number;
  /** When one of its servers last started or ended. Any clock. */
  readonly lastUsedAt: number;
  /** Memory of one, as measured or assumed. */
  readonly bytes: number;
};

/** The most memory for all interpreters: a share of what servers may use, and for as many as the driver keeps. Pure. */
export function prewarmBytes(
  share: number,
  { memoryBytes, startReserveBytes }: Pick<Budget, "memoryBytes" | "startReserveBytes">,
  { capabilities, maxPrewarmed }: Pick<RuntimeDriver, "capabilities" | "maxPrewarmed">,
): number {
  // A share of nothing of infinite memory would be no number.
  if (share === 0 || !capabilities.has("prewarm")) return 0;
  // What can't measure them counts each as the reserve.
  return Math.min(share * memoryBytes, (maxPrewarmed ?? Number.POSITIVE_INFINITY) * startReserveBytes);
}

/** Even if more servers of a kind are idle: they rarely start at the same moment. */
const maxPerKind = 8;

/**
 * The number of waiting interpreters of each kind, in the order in which to start them. Pure. Organizations get equal
 * parts of the memory, and one's surplus goes to the others. Within an organization, each kind gets its first
 * interpreter before any gets its second, the most recently used first.
 */
export function planPrewarm(demands: readonly Demand[], memoryBytes: number): ReadonlyMap<string, number> {
  const recent = [...demands].sort((a, b) => b.lastUsedAt - a.lastUsedAt);
  const queues = Map.groupBy(
    recent.flatMap((demand) => Array.from({ length: targetCount(demand) }, (_, level) => ({ demand, level }))),
    ({ demand }) => demand.organizationId,
  );
  for (const queue of queues.values()) queue.sort((a, b) => a.level - b.level);
  const given = new Map([...queues.keys()].map((organizationId) => [organizationId, 0]));
  const plan = new Map<string, number>();
  let left = memoryBytes;
  while (given.size > 0) {
    const [organizationId = "", bytes = 0] = [...given].reduce((least, each) => (each[1] < least[1] ? each : least));
    const next = queues.get(organizationId)?.shift();
    if (next === undefined) {
      given.delete(organizationId);
      continue;
    }
    const { demand } = next;
    if (demand.bytes > left) continue;
    left -= demand.bytes;
    given.set(organizationId, bytes + demand.bytes);
    plan.set(demand.kind, (plan.get(demand.kind) ?? 0) + 1);
  }
  return plan;
}

/** At least one even while all servers run: the next push starts another. */
const targetCount = ({ idleServers }: Demand) => Math.min(maxPerKind, Math.max(1, idleServers));
