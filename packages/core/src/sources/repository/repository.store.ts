import type { Database, Transaction } from "@towpath/db";
import { gitSource, project, repository, user } from "@towpath/db/schema";
import { and, asc, eq, inArray, like } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { repositoryMakerSchema } from "./repository.schema.ts";

type Queryable = Database | Transaction;
export type RepositoryRow = typeof repository.$inferSelect;

/** A repository of this instance (SRC-3). */
export const repositoryViewSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  url: z.string().describe("to clone it and push to it, with an API key as the password"),
  defaultBranch: z.string(),
  madeBy: repositoryMakerSchema.describe("who put code there first"),
  /** Null: a key of the organization, the operator, or an account that was deleted. */
  createdBy: z.object({ id: z.uuid(), name: z.string() }).nullable(),
  createdAt: z.iso.datetime(),
  /** When commits last came; null: never. */
  pushedAt: z.iso.datetime().nullable(),
  /** Servers that are built from it, by name. */
  servers: z.array(z.object({ id: z.uuid(), name: z.string() })),
  continued: z
    .object({ fullName: z.string(), url: z.string(), at: z.iso.datetime() })
    .nullable()
    .describe("where it continues on GitHub; it takes no pushes since"),
});
export type RepositoryView = z.infer<typeof repositoryViewSchema>;

/** Where git finds it: people sign in there with a key of theirs. */
export const cloneUrl = (
  ctx: Context,
  { orgSlug, name }: { readonly orgSlug: string; readonly name: string },
): string => `${ctx.dashboardUrl}/git/${orgSlug}/${name}.git`;

const named = (organizationId: string, name: string) =>
  and(eq(repository.organizationId, organizationId), eq(repository.name, name));

export async function findRepository(
  db: Queryable,
  organizationId: string,
  name: string,
): Promise<RepositoryRow | null> {
  const [row] = await db.select().from(repository).where(named(organizationId, name));
  return row ?? null;
}

/** `name`, or with the first free suffix `-2`, `-3`, … */
export async function freeRepositoryName(db: Queryable, organizationId: string, name: string): Promise<string> {
  const own = and(eq(repository.organizationId, organizationId), like(repository.name, `${name}%`));
  const taken = new Set(
    (await db.select({ name: repository.name }).from(repository).where(own)).map((row) => row.name),
  );
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

/** @throws TowpathError `not_found`, also for repositories of other organizations */
export async function requireRepository(db: Queryable, organizationId: string, name: string): Promise<RepositoryRow> {
  const row = await findRepository(db, organizationId, name);
  if (!row) throw notFound("repository");
  return row;
}

/**
 * The same for a transaction that refers to it: it can't be deleted meanwhile.
 *
 * @throws TowpathError `not_found`; `invalid_input` for one that continues on GitHub
 */
export async function keepRepository(tx: Transaction, organizationId: string, id: string): Promise<RepositoryRow> {
  const own = and(eq(repository.organizationId, organizationId), eq(repository.id, id));
  const [row] = await tx.select().from(repository).where(own).for("key share");
  if (!row) throw notFound("repository");
  const { githubFullName } = row;
  if (row.continuedAt === null) return row;
  const message = `The repository ${row.name} continues on GitHub as ${githubFullName}. Choose that repository.`;
  throw new TowpathError("invalid_input", message, { fields: { repository: message } });
}

/** Where a repository continues, for views; null: it doesn't. */
export function continuedAs({ continuedAt, githubFullName, githubUrl }: RepositoryRow): RepositoryView["continued"] {
  if (continuedAt === null) return null;
  return { fullName: githubFullName ?? "", url: `${githubUrl}.git`, at: continuedAt.toISOString() };
}

/** Projects that are built from these repositories, by name. */
export function projectsOf(db: Queryable, repositoryIds: readonly string[]) {
  return db
    .select({ id: project.id, name: project.name, repositoryId: gitSource.repositoryId })
    .from(gitSource)
    .innerJoin(project, eq(project.id, gitSource.projectId))
    .where(inArray(gitSource.repositoryId, [...repositoryIds]))
    .orderBy(asc(project.name));
}

/** By name; one of them, if `id` is given. */
export async function repositoryViews(
  ctx: Context,
  db: Queryable,
  organization: { readonly id: string; readonly slug: string },
  id?: string,
): Promise<readonly RepositoryView[]> {
  const own = eq(repository.organizationId, organization.id);
  const rows = await db
    .select({ row: repository, createdBy: { id: user.id, name: user.name } })
    .from(repository)
    .leftJoin(user, eq(user.id, repository.createdBy))
    .where(id === undefined ? own : and(own, eq(repository.id, id)))
    .orderBy(asc(repository.name));
  const ids = rows.map(({ row }) => row.id);
  const projects = ids.length === 0 ? [] : await projectsOf(db, ids);
  return rows.map(({ row, createdBy }) => ({
    id: row.id,
    name: row.name,
    url: cloneUrl(ctx, { orgSlug: organization.slug, name: row.name }),
    defaultBranch: row.defaultBranch,
    // A maker that a later version wrote is none of the terminal's.
    madeBy: repositoryMakerSchema.catch("push").parse(row.madeBy),
    createdBy,
    createdAt: row.createdAt.toISOString(),
    pushedAt: row.pushedAt?.toISOString() ?? null,
    servers: projects.flatMap(({ repositoryId, ...each }) => (repositoryId === row.id ? [each] : [])),
    continued: continuedAs(row),
  }));
}

/** @throws TowpathError `not_found` */
export async function repositoryView(
  ctx: Context,
  db: Queryable,
  organization: { readonly id: string; readonly slug: string },
  id: string,
): Promise<RepositoryView> {
  const [view] = await repositoryViews(ctx, db, organization, id);
  if (!view) throw notFound("repository");
  return view;
}
