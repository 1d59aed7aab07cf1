import type { Database } from "@towpath/db";
import { externalServer, instance, route } from "@towpath/db/schema";
import { and, desc, inArray, isNotNull } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { countsForServer, instanceState } from "../../delivery/deployment/internal.ts";
import { findPublicProject } from "./registry.store.ts";

/** `not-live`: nothing was deployed yet. `failing`: it crashed, or doesn't answer where it runs. */
export type BadgeState = "live" | "asleep" | "failing" | "not-live";

/**
 * How a public server is doing, for a badge (PRJ-15), by its name or a former one; null for a name that is private or
 * unknown.
 */
export async function getBadgeState(call: {
  ctx: Pick<Context, "db">;
  input: { readonly projectName: string };
}): Promise<{ readonly name: string; readonly state: BadgeState } | null> {
  const { db } = call.ctx;
  const found = await findPublicProject(db, call.input.projectName);
  if (!found) return null;
  const { project } = found;
  const states = await badgeStates(db, [project]);
  return { name: project.name.toLowerCase(), state: states.get(project.id) ?? "not-live" };
}

type Shown = { readonly id: string; readonly name: string; readonly kind: string };

/** How projects are doing, by their ids; in a few queries, however many there are. */
export async function badgeStates(db: Database, projects: readonly Shown[]): Promise<ReadonlyMap<string, BadgeState>> {
  const ids = projects.map(({ id }) => id);
  const { projectId, label, deploymentId } = route;
  const [routes, problems] = await Promise.all([
    db.select({ projectId, label, deploymentId }).from(route).where(inArray(projectId, ids)),
    db
      .select({ projectId: externalServer.projectId })
      .from(externalServer)
      .where(and(inArray(externalServer.projectId, ids), isNotNull(externalServer.problem))),
  ]);
  const live = new Map(routes.map((each) => [`${each.projectId} ${each.label}`, each.deploymentId]));
  const failing = new Set(problems.map((each) => each.projectId));
  const newest = await newestStates(
    db,
    [...live.values()].filter((id) => id !== null),
  );
  const stateHere = (deployed: string | null | undefined): BadgeState => {
    if (deployed === undefined) return "not-live";
    // A portal has no process of its own.
    if (deployed === null) return "live";
    const state = instanceState(newest.get(deployed) ?? "stopped");
    if (state === "crashed") return "failing";
    return state === "awake" || state === "starting" ? "live" : "asleep";
  };
  return new Map(
    projects.map(({ id, name, kind }) => [
      id,
      kind === "external" ? (failing.has(id) ? "failing" : "live") : stateHere(live.get(`${id} ${name.toLowerCase()}`)),
    ]),
  );
}

/** The state of the instance of each deployment that began last; none for one that never had any. */
async function newestStates(db: Database, deploymentIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { deploymentId, state, startedAt } = instance;
  const rows = await db
    .selectDistinctOn([deploymentId], { deploymentId, state })
    .from(instance)
    .where(and(inArray(deploymentId, [...deploymentIds]), countsForServer))
    .orderBy(deploymentId, desc(startedAt));
  return new Map(rows.map((row) => [row.deploymentId, row.state]));
}
