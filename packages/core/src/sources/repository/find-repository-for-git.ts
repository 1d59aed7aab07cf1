import { organization } from "@towpath/db/schema";
import { arrayContains, desc, eq, or } from "drizzle-orm";
import { authorize, type Permission } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { requireOpenForPushes } from "./moving.store.ts";
import { findRepository, projectsOf, type RepositoryRow } from "./repository.store.ts";

const permissionOf = { read: "project.read", write: "build.start" } as const satisfies Record<string, Permission>;

type GitRepository = Pick<RepositoryRow, "id" | "name" | "defaultBranch" | "organizationId"> & {
  /** Of its address now: an organization is found by its former slugs too. */
  readonly orgSlug: string;
};

/**
 * A repository of this instance as git asks for it, for somebody who may read it, or push to it, which takes the
 * permission to start builds. A key that is limited to some servers reaches their repositories, and pushes where all
 * servers are its own.
 *
 * @throws TowpathError `not_found` for one that doesn't exist or is of others; `forbidden` for a push by who may only read;
 * `out_of_storage` for a push; `conflict` for a push to one that continues on GitHub, or is being moved there
 */
export async function findRepositoryForGit(call: {
  ctx: Context;
  input: { readonly orgSlug: string; readonly name: string; readonly access: "read" | "write" };
}): Promise<GitRepository> {
  const { ctx, input } = call;
  const { orgSlug, name, access } = input;
  const row = await visible(ctx, orgSlug, name);
  if (access === "write") {
    await requirePush(ctx, row);
    requireOpenForPushes(ctx, row);
    await requireStorageForBuilds(ctx);
  }
  const { id, defaultBranch, organizationId } = row;
  return { id, name: row.name, defaultBranch, organizationId, orgSlug: row.orgSlug };
}

type FoundRow = RepositoryRow & { readonly orgSlug: string };

/** Of the organization with this slug, else of one that had it, which others may have taken since. */
async function visible(ctx: Context, orgSlug: string, name: string): Promise<FoundRow> {
  const called = await ctx.db
    .select({ id: organization.id, slug: organization.slug })
    .from(organization)
    .where(or(eq(organization.slug, orgSlug), arrayContains(organization.formerSlugs, [orgSlug])))
    .orderBy(desc(eq(organization.slug, orgSlug)), desc(organization.id));
  for (const { id, slug } of called) {
    const row = await findRepository(ctx.db, id, name);
    if (row !== null && (await mayRead(ctx, row))) return { ...row, orgSlug: slug };
  }
  // Of others, and so unknown.
  throw notFound("repository");
}

async function mayRead(ctx: Context, row: RepositoryRow): Promise<boolean> {
  try {
    await authorize(unlimited(ctx), permissionOf.read, { organizationId: row.organizationId });
  } catch (error) {
    if (error instanceof TowpathError && error.code === "forbidden") return false;
    throw error;
  }
  const limits = limitsOf(ctx);
  if (limits === null) return true;
  const projects = await projectsOf(ctx.db, [row.id]);
  return projects.some(({ id }) => limits.includes(id));
}

/** @throws TowpathError `forbidden` for who may not push to it */
export async function requirePush(ctx: Context, row: RepositoryRow): Promise<void> {
  try {
    await authorize(unlimited(ctx), permissionOf.write, { organizationId: row.organizationId });
  } catch (error) {
    if (!(error instanceof TowpathError) || error.code !== "forbidden") throw error;
    const message = "Forbidden: your role in this organization reads this repository, but may not push to it.";
    throw new TowpathError("forbidden", message);
  }
  const limits = limitsOf(ctx);
  if (limits === null) return;
  const others = (await projectsOf(ctx.db, [row.id])).filter(({ id }) => !limits.includes(id));
  if (others.length === 0) return;
  const message = "Forbidden: other servers than this key's are built from this repository. Push with a key for all.";
  throw new TowpathError("forbidden", message);
}

const limitsOf = ({ actor }: Context) => (actor.kind === "apiKey" ? actor.projectIds : null);

/** The key's role; its limit to servers is checked here, by the servers of the repository. */
const unlimited = (ctx: Context): Context =>
  ctx.actor.kind === "apiKey" ? { ...ctx, actor: { ...ctx.actor, projectIds: null } } : ctx;
