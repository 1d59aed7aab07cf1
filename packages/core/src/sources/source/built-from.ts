import type { Database, Transaction } from "@towpath/db";
import { build, githubInstallation, gitSource, organization, project, repository } from "@towpath/db/schema";
import { and, eq, sql } from "drizzle-orm";
import { z } from "zod";
import { notFound, TowpathError } from "../../errors/index.ts";
import { versionCommit } from "../package/internal.ts";
import { sourceOf } from "./source.ts";

type Queryable = Database | Transaction;
type ProjectRow = typeof project.$inferSelect;
type BuildRow = Pick<typeof build.$inferSelect, "builtFrom" | "createdAt" | "commitSha" | "packageVersion">;

/**
 * Where the code of one build comes from, as it was when the build was queued; commit or version are the build's own. A
 * build whose server has another source meanwhile is still of this one.
 */
const builtFromSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("github"),
    installationId: z.number().nullable(),
    repositoryId: z.number(),
    /** owner/name as it was then. */
    fullName: z.string(),
  }),
  z.object({ kind: z.literal("git"), url: z.string() }),
  /** `fullName`: organization/name as it was then. */
  z.object({ kind: z.literal("repository"), repositoryId: z.string(), fullName: z.string() }),
  z.object({ kind: z.literal("package"), name: z.string() }),
]);
export type BuiltFrom = z.infer<typeof builtFromSchema>;

/** What a build that is queued now is built from; null for a server that isn't built here. */
export async function builtFromNow(db: Queryable, of: ProjectRow): Promise<BuiltFrom | null> {
  const source = sourceOf(of);
  if (source === null) return null;
  if (source.kind === "package") return { kind: "package", name: source.name };
  if (source.kind === "github") {
    const { installationId, repositoryId, fullName } = source;
    return { kind: "github", installationId, repositoryId, fullName };
  }
  const [git] = await db
    .select({
      url: gitSource.url,
      repositoryId: gitSource.repositoryId,
      name: repository.name,
      slug: organization.slug,
    })
    .from(gitSource)
    .leftJoin(repository, eq(repository.id, gitSource.repositoryId))
    .leftJoin(organization, eq(organization.id, repository.organizationId))
    .where(eq(gitSource.projectId, of.id));
  if (git === undefined) return null;
  if (git.url !== null) return { kind: "git", url: git.url };
  return { kind: "repository", repositoryId: git.repositoryId ?? "", fullName: `${git.slug}/${git.name}` };
}

/** Of a build by an earlier version, which stored none, it is the server's source unless that has changed since. */
export function builtFromOf(row: BuildRow, of: ProjectRow, now: BuiltFrom | null): BuiltFrom | null {
  const stored = builtFromSchema.safeParse(row.builtFrom).data;
  if (stored) return stored;
  if (of.sourceChangedAt !== null && row.createdAt < of.sourceChangedAt) return null;
  // Packages could be changed to before that was recorded.
  const { packageVersion: version } = row;
  if (now?.kind !== "package") return version === null ? now : null;
  return version !== null && versionCommit(now.name, version).sha === row.commitSha ? now : null;
}

/** GitHub's repositories are renamed and transferred, and keep their numbers. */
export function isSameSource(one: BuiltFrom | null, other: BuiltFrom | null): boolean {
  return one !== null && other !== null && identityOf(one) === identityOf(other);
}

function identityOf(from: BuiltFrom): string {
  switch (from.kind) {
    case "github":
    case "repository":
      return `${from.kind} ${from.repositoryId}`;
    case "git":
      return `git ${from.url}`;
    case "package":
      return `package ${from.name}`;
  }
}

/** What a server learns of it (RUN-4); null for a package. */
export function repositoryName(from: BuiltFrom | null): string | null {
  if (from === null || from.kind === "package") return null;
  return from.kind === "git" ? from.url : from.fullName;
}

/**
 * Where a build of `from` can be read now: GitHub's repository under its name and through the installation of today, or,
 * if the server has left it, through the one of then, as long as the organization has that.
 */
export async function reachableNow(
  db: Queryable,
  organizationId: string,
  { from, now }: { readonly from: BuiltFrom; readonly now: BuiltFrom | null },
): Promise<BuiltFrom> {
  if (now !== null && isSameSource(from, now)) return now;
  if (from.kind !== "github" || from.installationId === null) return from;
  const held = and(
    eq(githubInstallation.organizationId, organizationId),
    eq(githubInstallation.installationId, from.installationId),
  );
  return (await db.$count(githubInstallation, held)) > 0 ? from : { ...from, installationId: null };
}

/**
 * Has the builds of a project's repository of this instance count as built from where its history continues: they can be built
 * again from there, also when the repository here is gone. The project is locked.
 */
export async function continueBuilds(
  tx: Transaction,
  projectId: string,
  { repositoryId, to }: { readonly repositoryId: string; readonly to: BuiltFrom },
): Promise<void> {
  const fromHere = sql`${build.builtFrom} @> ${JSON.stringify({ kind: "repository", repositoryId })}::jsonb`;
  await tx
    .update(build)
    .set({ builtFrom: to })
    .where(and(eq(build.projectId, projectId), fromHere));
}

/**
 * Locks a project and returns it as it is now, for a build of what `before` names. Lock order everywhere: project first,
 * then branches.
 *
 * @throws TowpathError `conflict` when it has another source by now; `not_found`
 */
export async function lockAtSource(tx: Transaction, projectId: string, before: BuiltFrom | null): Promise<ProjectRow> {
  const [row] = await tx.select().from(project).where(eq(project.id, projectId)).for("no key update");
  if (!row) throw notFound("server");
  if (isSameSource(before, await builtFromNow(tx, row))) return row;
  throw new TowpathError("conflict", "The server's source was changed just now. Try again.");
}
