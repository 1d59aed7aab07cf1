import { organization, project } from "@towpath/db/schema";
import { and, asc, eq, sql } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { type BadgeState, getBadgeState } from "../registry/index.ts";

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
    /** ISO 8601. */
    readonly createdAt: string;
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
    .select({ projectId: project.id, name: project.name, createdAt: project.createdAt })
    .from(project)
    .where(and(eq(project.organizationId, found.id), project.isPublic))
    .orderBy(asc(sql`lower(${project.name})`))
    .limit(maxServers);
  const servers = await Promise.all(
    projects.map(async ({ projectId, name, createdAt }) => {
      const state = (await getBadgeState({ ctx: { db }, input: { projectName: name } }))?.state ?? "not-live";
      return { projectId, name: name.toLowerCase(), state, createdAt: createdAt.toISOString() };
    }),
  );
  return { name: found.name, servers: servers.filter(({ state }) => state !== "not-live") };
}
