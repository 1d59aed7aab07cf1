import type { Transaction } from "@towpath/db";
import { errorGroup, errorGroupHour, project } from "@towpath/db/schema";
import { and, asc, count, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import { newId } from "../../ids/index.ts";
import { deploymentOrder } from "./deployment-order.ts";
import type { ErrorChange } from "./error-change.ts";
import { maxGroups, maxOpenGroups } from "./error-group.schema.ts";
import { addShares, newestSamples, overflowFingerprint, overflowOf, type Tally } from "./tally.ts";

type Group = Omit<typeof errorGroup.$inferSelect, "lastDay">;

/** Adds tallies to their groups, or makes these. Returns what changed for people. */
export async function keepTallies(tx: Transaction, all: readonly Tally[], now: Date): Promise<readonly ErrorChange[]> {
  if (all.length === 0) return [];
  const rates = await lockProjects(tx, all);
  const tallies = all.filter(({ projectId }) => rates.has(projectId));
  const known = await lockGroups(tx, tallies);
  const [own, beyond] = await withinLimits(tx, tallies, known);
  const comesBack = await deploymentOrder(tx, [...known.values()], own);
  const changes: ErrorChange[] = [];
  const kept = [...own, ...overflowOf(beyond)].map((tally) => {
    const before = known.get(idOf(tally));
    const isBack = before !== undefined && comesBack(before, tally);
    const group = before ? updated(before, tally, isBack ? now : null) : created(tally, now);
    if (!before || isBack) changes.push(changeOf(before ? "error.back" : "error.new", group, group.count));
    return { group, tally };
  });
  if (kept.length === 0) return [];
  await store(
    tx,
    kept.map(({ group }) => group),
  );
  const reached = await addHours(tx, kept, rates);
  return [...changes, ...reached];
}

const idOf = ({ projectId, fingerprint }: Pick<Tally, "projectId" | "fingerprint">) => `${projectId} ${fingerprint}`;

/** The rate of each project that still exists; none is deleted meanwhile. */
async function lockProjects(tx: Transaction, tallies: readonly Tally[]): Promise<ReadonlyMap<string, number | null>> {
  const ids = [...new Set(tallies.map(({ projectId }) => projectId))];
  const rows = await tx
    .select({ id: project.id, rate: project.errorsPerHour })
    .from(project)
    .where(inArray(project.id, ids))
    .for("key share");
  return new Map(rows.map(({ id, rate }) => [id, rate]));
}

/** The groups that exist, with those of other errors. In the order in which people's changes lock them too. */
async function lockGroups(tx: Transaction, tallies: readonly Tally[]): Promise<ReadonlyMap<string, Group>> {
  const rows = await tx
    .select()
    .from(errorGroup)
    .where(
      and(
        inArray(errorGroup.projectId, [...new Set(tallies.map(({ projectId }) => projectId))]),
        inArray(errorGroup.fingerprint, [
          ...new Set([overflowFingerprint, ...tallies.map(({ fingerprint }) => fingerprint)]),
        ]),
      ),
    )
    .orderBy(asc(errorGroup.id))
    .for("update");
  return new Map(rows.map((row) => [idOf(row), row]));
}

/** Tallies that have a group or may get one, the most frequent first, and the others. */
async function withinLimits(
  tx: Transaction,
  tallies: readonly Tally[],
  known: ReadonlyMap<string, Group>,
): Promise<readonly [own: Tally[], beyond: Tally[]]> {
  const own = tallies.filter((tally) => known.has(idOf(tally)));
  const fresh = tallies.filter((tally) => !known.has(idOf(tally)));
  if (fresh.length === 0) return [own, []];
  const counts = await tx
    .select({
      projectId: errorGroup.projectId,
      all: count(),
      open: sql<number>`(count(*) FILTER (WHERE ${errorGroup.state} = 'open'))::int`,
    })
    .from(errorGroup)
    .where(
      and(
        inArray(errorGroup.projectId, [...new Set(fresh.map(({ projectId }) => projectId))]),
        eq(errorGroup.isOverflow, false),
      ),
    )
    .groupBy(errorGroup.projectId);
  const room = new Map(
    counts.map(({ projectId, all, open }) => [projectId, Math.min(maxGroups - all, maxOpenGroups - open)]),
  );
  const beyond: Tally[] = [];
  for (const tally of fresh.toSorted((a, b) => b.count - a.count)) {
    const left = room.get(tally.projectId) ?? maxOpenGroups;
    room.set(tally.projectId, left - 1);
    (left > 0 ? own : beyond).push(tally);
  }
  return [own, beyond];
}

function created(tally: Tally, now: Date): Group {
  return {
    id: newId(),
    projectId: tally.projectId,
    fingerprint: tally.fingerprint,
    isOverflow: tally.isOverflow,
    ...ofCause(tally),
    state: "open",
    openedAt: now,
    isBack: false,
    resolvedAt: null,
    resolvedDeploymentId: null,
    firstSeen: tally.firstSeen,
    firstDeploymentId: tally.firstDeploymentId,
    lastSeen: tally.lastSeen,
    lastDeploymentId: tally.lastDeploymentId,
    count: tally.count,
    samples: tally.samples,
    ...sharesOf({ callers: [], clients: [], hasMoreCallers: false, hasMoreClients: false }, tally),
  };
}

/** `backAt`: when it came back; null if it didn't. */
function updated(group: Group, tally: Tally, backAt: Date | null): Group {
  const isNewest = tally.lastSeen >= group.lastSeen;
  const isFirst = tally.firstSeen < group.firstSeen;
  return {
    ...group,
    ...(isNewest && { ...ofCause(tally), lastSeen: tally.lastSeen, lastDeploymentId: tally.lastDeploymentId }),
    ...(isFirst && { firstSeen: tally.firstSeen, firstDeploymentId: tally.firstDeploymentId }),
    ...(backAt && { state: "open", isBack: true, openedAt: backAt }),
    count: group.count + tally.count,
    samples: newestSamples([...group.samples, ...tally.samples]),
    ...sharesOf(group, tally),
  };
}

const ofCause = ({ cause: { title, method, target, exception, frame } }: Tally) => ({
  title,
  method,
  target,
  exception,
  file: frame?.file ?? null,
  line: frame?.line ?? null,
  functionName: frame?.name ?? null,
});

function sharesOf(
  before: Pick<Group, "callers" | "clients" | "hasMoreCallers" | "hasMoreClients">,
  { callers, clients }: Tally,
) {
  const [of, by] = [addShares(before.callers, callers), addShares(before.clients, clients)];
  return {
    callers: of.shares,
    clients: by.shares,
    hasMoreCallers: before.hasMoreCallers || of.hasMore,
    hasMoreClients: before.hasMoreClients || by.hasMore,
  };
}

async function store(tx: Transaction, groups: readonly Group[]): Promise<void> {
  const {
    id: _id,
    projectId: _project,
    fingerprint: _fingerprint,
    lastDay: _day,
    ...columns
  } = getTableColumns(errorGroup);
  const set = Object.fromEntries(Object.keys(columns).map((key) => [key, sql.raw(`excluded.${snakeCase(key)}`)]));
  await tx
    .insert(errorGroup)
    .values([...groups])
    .onConflictDoUpdate({ target: errorGroup.id, set });
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Adds up the hours; returns the groups that reach their project's rate with it. */
async function addHours(
  tx: Transaction,
  kept: readonly { readonly group: Group; readonly tally: Tally }[],
  rates: ReadonlyMap<string, number | null>,
): Promise<ErrorChange[]> {
  const added = kept.flatMap(({ group, tally }) =>
    [...tally.hours].map(([hour, more]) => ({ group, row: { groupId: group.id, time: new Date(hour), count: more } })),
  );
  const sums = await tx
    .insert(errorGroupHour)
    .values(added.map(({ row }) => row))
    .onConflictDoUpdate({
      target: [errorGroupHour.groupId, errorGroupHour.time],
      set: { count: sql`${errorGroupHour.count} + excluded.count` },
    })
    .returning();
  const sumOf = new Map(sums.map(({ groupId, time, count: sum }) => [`${groupId} ${time.getTime()}`, sum]));
  return added.flatMap(({ group, row }) => {
    const rate = rates.get(group.projectId) ?? null;
    const sum = sumOf.get(`${group.id} ${row.time.getTime()}`) ?? 0;
    const isReached = rate !== null && group.state === "open" && sum >= rate && sum - row.count < rate;
    return isReached ? [changeOf("error.rate", group, sum)] : [];
  });
}

const changeOf = (kind: ErrorChange["kind"], group: Group, sum: number): ErrorChange => ({
  kind,
  projectId: group.projectId,
  groupId: group.id,
  title: group.title,
  tool: group.target ?? group.method,
  count: sum,
  deploymentId: group.lastDeploymentId,
});
