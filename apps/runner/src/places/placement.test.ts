import fc from "fast-check";
import { expect, test } from "vitest";
import { type Budget, type Decision, decide, type Occupant, shortageOf, type View, type Waiter } from "./placement.ts";
import { budgetOf } from "./places.ts";

const organization = fc.constantFrom("a", "b", "c");
const budgetArbitrary: fc.Arbitrary<Budget> = fc.record({
  maxInstances: fc.integer({ min: 1, max: 12 }),
  maxStarting: fc.integer({ min: 1, max: 6 }),
  memoryBytes: fc.integer({ min: 50, max: 1500 }),
  startReserveBytes: fc.integer({ min: 1, max: 200 }),
  maxShare: fc.constantFrom(0.5, 0.75, 1),
});
const occupantArbitrary = fc.record({
  organizationId: organization,
  phase: fc.constantFrom("starting" as const, "ready" as const, "frozen" as const, "stopping" as const),
  isLeased: fc.boolean(),
  lastUsedAt: fc.integer({ min: 0, max: 100 }),
  memoryBytes: fc.option(fc.integer({ min: 0, max: 300 })),
});
const viewArbitrary: fc.Arbitrary<View> = fc
  .record({
    budget: budgetArbitrary,
    occupants: fc.array(occupantArbitrary, { maxLength: 14 }),
    waiters: fc.array(organization, { maxLength: 8 }),
    served: fc.array(organization, { maxLength: 3 }),
  })
  .map(({ budget, occupants, waiters, served }) => ({
    budget,
    occupants: occupants.map((each, index) => ({ ...each, server: `o${index}`, callers: null })),
    waiters: waiters.map((organizationId, index) => ({ server: `w${index}`, organizationId, callers: null })),
    servedAt: new Map(served.map((organizationId, index) => [organizationId, index + 1])),
  }));

const always = (holds: (view: View, decision: Decision) => void) =>
  fc.assert(
    fc.property(viewArbitrary, (view) => holds(view, decide(view))),
    { numRuns: 2000 },
  );
const find = <Each extends Waiter>(all: readonly Each[], id: string): Each => {
  const found = all.find(({ server }) => server === id);
  if (found === undefined) throw new Error(`${id} was not asked about`);
  return found;
};
const sizeOf = ({ budget }: View, { phase, memoryBytes }: Occupant) =>
  phase === "starting"
    ? Math.max(memoryBytes ?? 0, budget.startReserveBytes)
    : (memoryBytes ?? budget.startReserveBytes);
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);
const isIdle = ({ phase, isLeased }: Occupant) => !isLeased && (phase === "ready" || phase === "frozen");

test("RUN-3 places, starts and memory are never given twice", () => {
  always((view, { admit }) => {
    expect(new Set(admit).size).toBe(admit.length);
    if (admit.length === 0) return;
    const { budget, occupants } = view;
    expect(occupants.length + admit.length).toBeLessThanOrEqual(budget.maxInstances);
    const starting = occupants.filter(({ phase }) => phase === "starting").length;
    expect(starting + admit.length).toBeLessThanOrEqual(budget.maxStarting);
    const used = sumOf(occupants.map((each) => sizeOf(view, each)));
    const isFirst = occupants.length === 0 && admit.length === 1;
    if (!isFirst) expect(used + admit.length * budget.startReserveBytes).toBeLessThanOrEqual(budget.memoryBytes);
  });
});

test("RUN-3 only idle instances are evicted, each once", () => {
  always((view, { evict }) => {
    expect(new Set(evict).size).toBe(evict.length);
    for (const id of evict) expect(isIdle(find(view.occupants, id))).toBe(true);
  });
});

test("RUN-3 nothing is evicted while no start waits and memory suffices", () => {
  always((view, { evict }) => {
    const used = sumOf(view.occupants.map((each) => sizeOf(view, each)));
    if (view.waiters.length === 0 && used <= view.budget.memoryBytes) expect(evict).toEqual([]);
  });
});

const withMemoryForAll = (view: View): View => ({ ...view, budget: { ...view.budget, memoryBytes: 1_000_000 } });

test("RUN-3 when places are short, no more instances are evicted than waiters need", () => {
  always((view) => {
    if (view.occupants.length > view.budget.maxInstances) return;
    const { admit, evict } = decide(withMemoryForAll(view));
    expect(evict.length).toBeLessThanOrEqual(view.waiters.length - admit.length);
  });
});

test("RUN-3 within an organization, places are given in order of arrival", () => {
  always((view, { admit }) => {
    for (const name of ["a", "b", "c"]) {
      const own = view.waiters.filter(({ organizationId }) => organizationId === name);
      const given = admit.filter((id) => find(view.waiters, id).organizationId === name);
      expect(given).toEqual(own.slice(0, given.length).map(({ server }) => server));
    }
  });
});

test("RUN-3 no organization gets more than its share while others use the host, but each may have one instance", () => {
  always((view, { admit }) => {
    const { budget, occupants, waiters, servedAt } = view;
    const present = [...occupants, ...waiters].map(({ organizationId }) => organizationId);
    if (new Set([...present, ...servedAt.keys()]).size < 2) return;
    for (const name of new Set(admit.map((id) => find(waiters, id).organizationId))) {
      const own = occupants.filter(({ organizationId }) => organizationId === name);
      const given = admit.filter((id) => find(waiters, id).organizationId === name);
      const count = own.length + given.length;
      expect(count).toBeLessThanOrEqual(Math.max(1, Math.floor(budget.maxInstances * budget.maxShare)));
      const used = sumOf(own.map((each) => sizeOf(view, each))) + given.length * budget.startReserveBytes;
      if (count > 1) expect(used).toBeLessThanOrEqual(budget.memoryBytes * budget.maxShare);
    }
  });
});

test("RUN-3 a start gets a place at once if nothing is short", () => {
  always((view, { admit }) => {
    const free = view.waiters.filter((waiter) => shortageOf(view, waiter) === null);
    if (free.length > 0) expect(admit.length).toBeGreaterThan(0);
  });
});

test("RUN-3 when places are short and an instance is idle, room is being made", () => {
  always((anyView) => {
    const view = withMemoryForAll(anyView);
    const { admit, evict } = decide(view);
    const isShort = view.waiters.some((waiter) => shortageOf(view, waiter) === "places");
    if (admit.length > 0 || !isShort || view.occupants.length > view.budget.maxInstances) return;
    const isLeaving = view.occupants.some(({ phase }) => phase === "stopping");
    if (view.occupants.some(isIdle)) expect(evict.length > 0 || isLeaving).toBe(true);
  });
});

/**
 * Simulates: starts become ready, leased servers are used once, evicted ones end. Returns who got a place, in order.
 */
function playOn(view: View, steps: number): string[] {
  const given: string[] = [];
  let { occupants, waiters } = view;
  const servedAt = new Map(view.servedAt);
  for (let step = 0; step < steps && waiters.length > 0; step += 1) {
    const { admit, evict } = decide({ ...view, occupants, waiters, servedAt });
    given.push(...admit);
    for (const id of admit) servedAt.set(find(waiters, id).organizationId, given.length + 1000);
    const started = admit.map((id): Occupant => {
      const { organizationId } = find(waiters, id);
      return {
        server: id,
        organizationId,
        callers: null,
        phase: "starting",
        isLeased: true,
        lastUsedAt: 1000 + step,
        memoryBytes: null,
      };
    });
    waiters = waiters.filter(({ server }) => !admit.includes(server));
    occupants = occupants
      .filter(({ phase }) => phase !== "stopping")
      .map((each): Occupant => {
        if (evict.includes(each.server)) return { ...each, phase: "stopping" };
        return each.phase === "starting" ? { ...each, phase: "ready" } : { ...each, isLeased: false };
      })
      .concat(started);
  }
  return given;
}

test("RUN-3 every waiting start eventually gets a place as others become idle", () => {
  fc.assert(
    fc.property(viewArbitrary, (view) => {
      expect(playOn(view, 400).toSorted()).toEqual(view.waiters.map(({ server }) => server).toSorted());
    }),
    { numRuns: 1000 },
  );
});

test("RUN-3 an organization that waits for its first place gets it before another one's second", () => {
  const full = [1, 2].map((number) => occupant(`a${number}`, { isLeased: true }));
  const waiters = ["a3", "a4", "a5", "b1"].map(waiter);
  const given = playOn({ budget: { ...budget, maxInstances: 2 }, occupants: full, waiters, servedAt: new Map() }, 100);
  expect(given.indexOf("b1")).toBeLessThanOrEqual(1);
});

const budget: Budget = {
  maxInstances: 8,
  maxStarting: 8,
  memoryBytes: 1_000_000,
  startReserveBytes: 1,
  maxShare: 0.75,
};
const occupant = (id: string, change: Partial<Occupant> = {}): Occupant => ({
  server: id,
  organizationId: id.slice(0, 1),
  callers: null,
  phase: "ready",
  isLeased: false,
  lastUsedAt: 0,
  memoryBytes: 1,
  ...change,
});
const waiter = (id: string): Waiter => ({ server: id, organizationId: id.slice(0, 1), callers: null });
const decided = (occupants: readonly Occupant[], waiters: readonly string[], change: Partial<Budget> = {}) =>
  decide({ budget: { ...budget, ...change }, occupants, waiters: waiters.map(waiter), servedAt: new Map() });

test("RUN-3 frozen instances are evicted first, then the least recently used", () => {
  const occupants = [
    occupant("a1", { lastUsedAt: 1 }),
    occupant("a2", { lastUsedAt: 9, phase: "frozen" }),
    occupant("a3", { lastUsedAt: 5 }),
    occupant("a4", { lastUsedAt: 0, isLeased: true }),
  ];
  expect(decided(occupants, ["a5", "a6"], { maxInstances: 4 })).toEqual({ admit: [], evict: ["a2", "a1"] });
});

test("RUN-3 idle servers of an organization beyond its fair share are evicted before older ones of others", () => {
  const occupants = [
    occupant("b1", { lastUsedAt: 0, phase: "frozen" }),
    ...[1, 2, 3, 4, 5].map((number) => occupant(`a${number}`, { lastUsedAt: 10 + number })),
  ];
  expect(decided(occupants, ["c1"], { maxInstances: 6 })).toEqual({ admit: [], evict: ["a1"] });
});

test("RUN-3 organizations take turns, however many places one of them waits for", () => {
  const loud = Array.from({ length: 20 }, (_, index) => `a${index}`);
  expect(decided([], [...loud, "b1", "c1"]).admit.slice(0, 3)).toEqual(["a0", "b1", "c1"]);
});

test("RUN-3 one organization cannot take all starts while others use the host", () => {
  const starting = [1, 2, 3].map((number) => occupant(`a${number}`, { phase: "starting" }));
  expect(decided(starting, ["a4", "b1"], { maxStarting: 4 }).admit).toEqual(["b1"]);
  expect(decided(starting, ["a4"], { maxStarting: 4 }).admit).toEqual(["a4"]);
});

test("RUN-3 enough instances are evicted for a start, or none", () => {
  const occupants = [occupant("a1", { memoryBytes: 40 }), occupant("a2", { memoryBytes: 400, isLeased: true })];
  expect(decided(occupants, ["a3"], { memoryBytes: 450, startReserveBytes: 100 })).toEqual({ admit: [], evict: [] });
  expect(decided(occupants, ["a3"], { memoryBytes: 450, startReserveBytes: 30 })).toEqual({ admit: [], evict: ["a1"] });
});

test("RUN-3 idle servers are evicted when servers outgrow the memory, even while no start waits", () => {
  const occupants = [occupant("a1", { memoryBytes: 600 }), occupant("a2", { memoryBytes: 600, lastUsedAt: 1 })];
  expect(decided(occupants, [], { memoryBytes: 1000 })).toEqual({ admit: [], evict: ["a1"] });
});

test("defaults follow from the host; a scheduler that places servers itself sets no limit", () => {
  const settings = { maxInstances: 5, maxStarting: null, memoryBytes: null, startReserveBytes: 100, maxShare: 0.75 };
  const host = { memoryBytes: 4 * 2 ** 30 + 1, processors: 3 };
  expect(budgetOf(settings, host)).toEqual({ ...settings, maxStarting: 6, memoryBytes: 3 * 2 ** 30 });
  expect(budgetOf({ ...settings, maxStarting: 1, memoryBytes: 200 }, host)).toMatchObject({
    maxStarting: 1,
    memoryBytes: 200,
  });
  const unbounded = { memoryBytes: Number.POSITIVE_INFINITY, processors: Number.POSITIVE_INFINITY };
  const budget = { ...budgetOf(settings, unbounded), maxInstances: 100 };
  const waiters = Array.from({ length: 50 }, (_, index) => ({ ...waiter(`w${index}`), organizationId: "a" }));
  expect(decide({ budget, occupants: [], waiters, servedAt: new Map() }).admit).toHaveLength(50);
});

test("CAP-1 a project's callers share the instances that it may have; idle ones make room, its other servers don't wait", () => {
  const callers = { projectId: "p", most: 2 };
  const own = (id: string, change: Partial<Occupant> = {}) => occupant(id, { callers, ...change });
  const ask = (occupants: readonly Occupant[], ids: readonly string[]) => {
    const waiters = ids.map((id) => ({ ...waiter(id), callers: id.startsWith("ac") ? callers : null }));
    return decide({ budget, occupants, waiters, servedAt: new Map() });
  };
  const busy = [own("ac1", { isLeased: true }), own("ac2", { isLeased: true })];
  expect(ask(busy, ["ac3", "a9"])).toEqual({ admit: ["a9"], evict: [] });
  const idle = [own("ac1", { lastUsedAt: 2 }), own("ac2", { lastUsedAt: 1 }), occupant("a8")];
  // One for each waiter, its longest idle first; never another kind of server.
  expect(ask(idle, ["ac3"])).toEqual({ admit: [], evict: ["ac2"] });
  expect(ask(idle, ["ac3", "ac4", "ac5"])).toEqual({ admit: [], evict: ["ac2", "ac1"] });
  const leaving = [own("ac1", { isLeased: true }), own("ac2", { phase: "stopping" })];
  expect(ask(leaving, ["ac3"])).toEqual({ admit: [], evict: [] });
  expect(ask([own("ac1")], ["ac3", "ac4"])).toEqual({ admit: ["ac3"], evict: ["ac1"] });
  expect(shortageOf({ budget, occupants: busy, waiters: [], servedAt: new Map() }, { ...waiter("ac3"), callers })).toBe(
    "callers",
  );
});
