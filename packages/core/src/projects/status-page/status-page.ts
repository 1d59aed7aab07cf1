import { organization, project } from "@towpath/db/schema";
import { and, asc, eq, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { type BadgeState, badgeStates } from "../registry/index.ts";

/** More public servers than an organization shows at a time. */
const maxServers = 100;

/** What anybody may see of an organization with a status page: its public servers that are or were live. */
type PublicStatus = {
  readonly name: string;
  readonly servers: readonly {
    readonly projectId: string;
    /** As in its address. */
    readonly name: string;
    readonly state: BadgeState;
  }[];
};

/** Null for an organization that has no status page, or doesn't exist: strangers can't tell which. */
export async function getStatusPage(call: {
  ctx: Pick<Context, "db">;
  input: { readonly orgSlug: string };
}): Promise<PublicStatus | null> {
  const { db } = call.ctx;
  const [found] = await db
    .select({ id: organization.id, name: organization.name })
    .from(organization)
    .where(and(eq(organization.slug, call.input.orgSlug), organization.hasStatusPage));
  if (!found) return null;
  const projects = await db
    .select({ id: project.id, name: project.name, kind: project.kind })
    .from(project)
    .where(and(eq(project.organizationId, found.id), project.isPublic))
    .orderBy(asc(sql`lower(${project.name})`))
    .limit(maxServers);
  const states = await badgeStates(db, projects);
  const servers = projects.map(({ id, name }) => ({
    projectId: id,
    name: name.toLowerCase(),
    state: states.get(id) ?? "not-live",
  }));
  return { name: found.name, servers: servers.filter(({ state }) => state !== "not-live") };
}
