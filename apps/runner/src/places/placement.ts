/** This host's capacity for servers. */
export type Budget = {
  /** Instances at the same time, in any state. */
  readonly maxInstances: number;
  /** Instances that start at the same time: a start takes a processor for seconds. */
  readonly maxStarting: number;
  /** For all instances together, bytes. */
  readonly memoryBytes: number;
  /** Bytes that a start requires; also assumed for instances that have not been measured yet. */
  readonly startReserveBytes: number;
  /** Share of each of these that one organization may have while others use the host too: 0 to 1. */
  readonly maxShare: number;
};

/** An instance that holds a place, from the decision that admits it until its last process has ended. */
export type Occupant = Waiter & {
  readonly phase: "starting" | "ready" | "frozen" | "stopping";
  /** In use: never evicted. */
  readonly isLeased: boolean;
  /** Any clock; smaller is longer ago. */
  readonly lastUsedAt: number;
  /** As measured, bytes; null when it has not been. */
  readonly memoryBytes: number | null;
};

/** The instances of a project that serve one caller each, and how many of them it may have (CAP-1). */
export type CallerGroup = { readonly projectId: string; readonly most: number };

export type Waiter = {
  /** A `ServerKey`. */
  readonly server: string;
  readonly organizationId: string;
  /** Null for a server that all callers share. */
  readonly callers: CallerGroup | null;
};

export type View = {
  readonly budget: Budget;
  readonly occupants: readonly Occupant[];
  /** In order of arrival, each server once. */
  readonly waiters: readonly Waiter[];
  /** When each organization was last given a place: a counter. Names all organizations that ever used the host. */
  readonly servedAt: ReadonlyMap<string, number>;
};

/** Servers to admit now, in this order, and instances to evict so that others can be admitted. */
export type Decision = { readonly admit: readonly string[]; readonly evict: readonly string[] };

/**
 * What a waiter waits for. `share`, `own starts`: its organization has all instances, or starts, that it may have.
 * `callers`: its project serves as many callers by instances of their own as it may.
 */
export type Shortage = "share" | "callers" | "own starts" | "starts" | "places" | "memory";

type Usage = { instances: number; starting: number; memoryBytes: number };

/**
 * Decides which servers are admitted and which instances are evicted. Pure, and the only place that decides, so
 * that two starts never count on the same place.
 *
 * First in, first out within an organization; between organizations in turns, those beyond their fair share last.
 * Evicted are unleased instances only, and no more than waiters need: those of organizations beyond their fair share
 * first, then frozen before ready ones, then what was used longest ago.
 */
export function decide(view: View): Decision {
  return new Round(view).decide();
}

/** Why this waiter has no place yet; null when nothing stands in its way. */
export function shortageOf(view: View, waiter: Waiter): Shortage | null {
  return new Round(view).shortage(waiter);
}

class Round {
  readonly #budget: Budget;
  readonly #waiters: readonly Waiter[];
  readonly #servedAt: Map<string, number>;
  readonly #isAlone: boolean;
  readonly #fairShare: number;
  #turn: number;
  readonly #used = new Map<string, Usage>();
  readonly #total: Usage = { instances: 0, starting: 0, memoryBytes: 0 };
  /** What instances that are being stopped will release; each waiter of this round takes its part of it. */
  readonly #leaving: Usage = { instances: 0, starting: 0, memoryBytes: 0 };
  readonly #leavingOf = new Map<string, number>();
  /** By project, with what was admitted in this round; and how many of them will be released. */
  readonly #callers = new Map<string, number>();
  readonly #callersLeaving = new Map<string, number>();
  readonly #idle: Occupant[];
  readonly #admit: string[] = [];
  readonly #evict: string[] = [];

  constructor({ budget, occupants, waiters, servedAt }: View) {
    this.#budget = budget;
    this.#waiters = waiters;
    this.#servedAt = new Map(servedAt);
    const present = [...occupants, ...waiters].map(({ organizationId }) => organizationId);
    this.#isAlone = new Set([...present, ...servedAt.keys()]).size < 2;
    this.#fairShare = 1 / Math.max(1, new Set(present).size);
    this.#turn = Math.max(0, ...servedAt.values());
    for (const occupant of occupants) {
      this.#add(occupant, this.#sizeOf(occupant));
      if (occupant.phase === "stopping") this.#markLeaving(occupant);
    }
    this.#idle = occupants
      .filter(({ phase, isLeased }) => !isLeased && (phase === "ready" || phase === "frozen"))
      .sort((a, b) => Number(b.phase === "frozen") - Number(a.phase === "frozen") || a.lastUsedAt - b.lastUsedAt);
  }

  decide(): Decision {
    while (this.#total.memoryBytes - this.#leaving.memoryBytes > this.#budget.memoryBytes) {
      const victim = this.#nextVictim();
      if (victim === undefined) break;
      this.#evictOne(victim);
    }
    const queues = Map.groupBy(this.#waiters, ({ organizationId }) => organizationId);
    for (let waiter = this.#next(queues); waiter !== null; waiter = this.#next(queues)) {
      const { organizationId } = waiter;
      queues.set(organizationId, queues.get(organizationId)?.slice(1) ?? []);
      const shortage = this.shortage(waiter);
      if (shortage === null) this.#admitOne(waiter);
      else if (shortage === "share") this.#makeRoomWithin(organizationId);
      else if (shortage === "callers") {
        this.#makeRoomAmong(waiter.callers);
        continue;
      }
      // Of its own starts one ends soon.
      else if (shortage === "own starts") continue;
      // All need the same, so nobody behind this one gets a place either.
      else if (shortage === "starts" || !this.#makeRoom()) break;
      this.#turn += 1;
      this.#servedAt.set(organizationId, this.#turn);
    }
    return { admit: this.#admit, evict: this.#evict };
  }

  shortage({ organizationId, callers }: Waiter): Shortage | null {
    const { maxInstances, maxStarting, memoryBytes } = this.#budget;
    const total = withOneMore(this.#total, this.#budget);
    if (callers && (this.#callers.get(callers.projectId) ?? 0) >= callers.most) return "callers";
    const own = this.#shortageOfShare(organizationId);
    if (own !== null) return own;
    if (total.starting > maxStarting) return "starts";
    if (total.instances > maxInstances) return "places";
    // The very first one may always try: a server larger than the budget is stopped by its own limit.
    return total.memoryBytes > memoryBytes && total.instances > 1 ? "memory" : null;
  }

  /** Each organization may have one; more than its part only while it is alone. */
  #shortageOfShare(organizationId: string): "share" | "own starts" | null {
    const used = this.#used.get(organizationId);
    if (this.#isAlone || used === undefined || used.instances === 0) return null;
    const { maxShare, maxInstances, maxStarting, memoryBytes } = this.#budget;
    const more = withOneMore(used, this.#budget);
    if (more.instances > Math.floor(maxInstances * maxShare) || more.memoryBytes > memoryBytes * maxShare)
      return "share";
    return more.starting > 1 && more.starting > Math.floor(maxStarting * maxShare) ? "own starts" : null;
  }

  /**
   * The next waiter: organizations within their fair share first, then whose turn is longest ago, then who came first.
   */
  #next(queues: ReadonlyMap<string, readonly Waiter[]>): Waiter | null {
    const heads = this.#waiters.filter((waiter) => queues.get(waiter.organizationId)?.[0] === waiter);
    const rank = ({ organizationId }: Waiter) => [
      this.#isBeyondFairShare(withOneMore(this.#used.get(organizationId), this.#budget)) ? 1 : 0,
      this.#servedAt.get(organizationId) ?? 0,
    ];
    const ranked = heads.map((waiter) => ({ waiter, rank: rank(waiter) }));
    ranked.sort((a, b) => (a.rank[0] ?? 0) - (b.rank[0] ?? 0) || (a.rank[1] ?? 0) - (b.rank[1] ?? 0));
    return ranked[0]?.waiter ?? null;
  }

  /** Whether it is more than an equal part for each organization that is here now. */
  #isBeyondFairShare(used: Usage | undefined): boolean {
    if (used === undefined) return false;
    const { maxInstances, memoryBytes } = this.#budget;
    return Math.max(used.instances / maxInstances, used.memoryBytes / memoryBytes) > this.#fairShare;
  }

  #admitOne(waiter: Waiter): void {
    this.#admit.push(waiter.server);
    this.#add(waiter, { instances: 1, starting: 1, memoryBytes: this.#budget.startReserveBytes });
  }

  /** Stops one of the organization's own for one of its waiters, unless one is leaving already. */
  #makeRoomWithin(organizationId: string): void {
    const leaving = this.#leavingOf.get(organizationId) ?? 0;
    if (leaving > 0) {
      this.#leavingOf.set(organizationId, leaving - 1);
      return;
    }
    const own = this.#idle.find((occupant) => occupant.organizationId === organizationId);
    if (own === undefined) return;
    this.#evictOne(own);
    this.#leavingOf.set(organizationId, (this.#leavingOf.get(organizationId) ?? 1) - 1);
  }

  /** The same among the instances of a project that serve one caller each. */
  #makeRoomAmong(callers: CallerGroup | null): void {
    if (callers === null) return;
    const { projectId } = callers;
    const leaving = this.#callersLeaving.get(projectId) ?? 0;
    const idle = leaving > 0 ? undefined : this.#idle.find((occupant) => occupant.callers?.projectId === projectId);
    if (idle) this.#evictOne(idle);
    // The next waiter needs another one.
    if (idle || leaving > 0) this.#callersLeaving.set(projectId, (this.#callersLeaving.get(projectId) ?? 1) - 1);
  }

  /** Counts on instances that are leaving, and stops further ones, for one waiter; false when they are not enough. */
  #makeRoom(): boolean {
    const { maxInstances, memoryBytes, startReserveBytes } = this.#budget;
    const total = withOneMore(this.#total, this.#budget);
    const missing = () => {
      const instances = total.instances - this.#leaving.instances;
      // As in `shortage`: the only one may always try.
      return instances > maxInstances || (instances > 1 && total.memoryBytes - this.#leaving.memoryBytes > memoryBytes);
    };
    const victims: Occupant[] = [];
    while (missing()) {
      const victim = this.#nextVictim();
      if (victim === undefined) {
        // All of them together would not do: let them run.
        for (const each of victims) this.#spare(each);
        return false;
      }
      this.#evictOne(victim);
      victims.push(victim);
    }
    // Promised to this waiter: the next one cannot count on the same place.
    this.#leaving.instances -= 1;
    this.#leaving.memoryBytes -= startReserveBytes;
    return true;
  }

  #nextVictim(): Occupant | undefined {
    const beyond = this.#idle.find(({ organizationId }) => this.#isBeyondFairShare(this.#stayingOf(organizationId)));
    return beyond ?? this.#idle[0];
  }

  #stayingOf(organizationId: string): Usage | undefined {
    const used = this.#used.get(organizationId);
    if (used === undefined) return undefined;
    const instances = used.instances - (this.#leavingOf.get(organizationId) ?? 0);
    return { ...used, instances };
  }

  #evictOne(victim: Occupant): void {
    this.#idle.splice(this.#idle.indexOf(victim), 1);
    this.#evict.push(victim.server);
    this.#markLeaving(victim);
  }

  #spare(victim: Occupant): void {
    this.#evict.splice(this.#evict.indexOf(victim.server), 1);
    this.#markLeaving(victim, -1);
  }

  #markLeaving(occupant: Occupant, sign: 1 | -1 = 1): void {
    this.#leaving.instances += sign;
    this.#leaving.memoryBytes += sign * this.#sizeOf(occupant).memoryBytes;
    addTo(this.#leavingOf, occupant.organizationId, sign);
    if (occupant.callers) addTo(this.#callersLeaving, occupant.callers.projectId, sign);
  }

  #sizeOf({ phase, memoryBytes }: Occupant): Usage {
    const { startReserveBytes } = this.#budget;
    const measured = memoryBytes ?? startReserveBytes;
    const isStarting = phase === "starting";
    return {
      instances: 1,
      starting: isStarting ? 1 : 0,
      memoryBytes: isStarting ? Math.max(measured, startReserveBytes) : measured,
    };
  }

  #add({ organizationId, callers }: Waiter, more: Usage): void {
    this.#used.set(organizationId, sum(this.#used.get(organizationId), more));
    Object.assign(this.#total, sum(this.#total, more));
    if (callers) addTo(this.#callers, callers.projectId, 1);
  }
}

const addTo = (counts: Map<string, number>, key: string, more: number): void =>
  void counts.set(key, (counts.get(key) ?? 0) + more);

const sum = (a: Usage | undefined, b: Usage): Usage => ({
  instances: (a?.instances ?? 0) + b.instances,
  starting: (a?.starting ?? 0) + b.starting,
  memoryBytes: (a?.memoryBytes ?? 0) + b.memoryBytes,
});

const withOneMore = (used: Usage | undefined, { startReserveBytes }: Budget): Usage =>
  sum(used, { instances: 1, starting: 1, memoryBytes: startReserveBytes });
