import { externalServer, instance, route } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { instanceState, newestInstance } from "../../delivery/deployment/internal.ts";
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
  const { id, name, kind } = found.project;
  return { name: name.toLowerCase(), state: kind === "external" ? await stateElsewhere() : await stateHere() };

  async function stateElsewhere(): Promise<BadgeState> {
    const failing = and(eq(externalServer.projectId, id), sql`${externalServer.problem} IS NOT NULL`);
    return (await db.$count(externalServer, failing)) > 0 ? "failing" : "live";
  }

  async function stateHere(): Promise<BadgeState> {
    const [live] = await db
      .select({ deploymentId: route.deploymentId })
      .from(route)
      .where(and(eq(route.projectId, id), eq(route.label, name.toLowerCase())));
    if (!live) return "not-live";
    // A portal has no process of its own.
    if (live.deploymentId === null) return "live";
    const [running] = await newestInstance(db, eq(instance.deploymentId, live.deploymentId));
    const state = running ? instanceState(running.state) : "stopped";
    if (state === "crashed") return "failing";
    return state === "awake" || state === "starting" ? "live" : "asleep";
  }
}
