import type { Transaction } from "@towpath/db";
import { gitSource, project, repository } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { keepRepository } from "../repository/internal.ts";
import type { FoundGitSource, FoundRepository } from "./find-repository.ts";
import { storedHeads } from "./following.ts";
import { findGitSource, sealedCredential } from "./git-source.store.ts";
import { firstCheckAt } from "./pauses.ts";
import { sourceOf } from "./source.ts";
import { noStatus } from "./status-hook.ts";

type ProjectRow = typeof project.$inferSelect;

/**
 * Stores where a project's code comes from, in place of what it came from; `more`: further columns of the project. Branches,
 * builds and what is live are the caller's. The project is locked.
 */
export async function setSource(
  tx: Transaction,
  ctx: Context<"secrets">,
  before: ProjectRow,
  next: Pick<FoundRepository, "branch" | "columns" | "git">,
  more: Partial<typeof project.$inferInsert> = {},
): Promise<ProjectRow> {
  const projectId = before.id;
  if (next.git === null) await tx.delete(gitSource).where(eq(gitSource.projectId, projectId));
  else await storeGitSource(tx, ctx, before, next.branch, next.git);
  const [after] = await tx
    .update(project)
    .set({ ...next.columns, ...more, updatedAt: ctx.clock.now() })
    .where(eq(project.id, projectId))
    .returning();
  if (!after) throw notFound("server");
  return after;
}

/** For the audit log. */
export async function describeSource(tx: Transaction, row: ProjectRow): Promise<string> {
  const source = sourceOf(row);
  if (source?.kind === "github") return source.fullName;
  if (source?.kind === "package") return source.name;
  const git = await findGitSource(tx, row.id);
  if (git?.repositoryId === null || git === null) return git?.url ?? "";
  const [own] = await tx.select({ name: repository.name }).from(repository).where(eq(repository.id, git.repositoryId));
  return own?.name ?? "";
}

/** Its Git URL or repository of this instance. */
export async function storeGitSource(
  tx: Transaction,
  ctx: Context<"secrets">,
  { id: projectId, organizationId }: ProjectRow,
  liveBranch: string,
  { place, named, previews, given, heads }: FoundGitSource,
): Promise<void> {
  const before = await findGitSource(tx, projectId);
  const version = (before?.credentialVersion ?? 0) + 1;
  const now = ctx.clock.now();
  if ("repositoryId" in place) await keepRepository(tx, organizationId, place.repositoryId);
  const url = "url" in place ? place.url : null;
  const values = {
    url: null,
    repositoryId: null,
    ...place,
    branch: named,
    previews,
    ...(await sealedCredential(tx, ctx, { organizationId, projectId, url: url ?? "", version }, given)),
    // The webhook and the token for states were the other repository's.
    webhookSecretCiphertext: null,
    webhookAt: null,
    ...noStatus,
    heads: storedHeads(heads.branches, liveBranch),
    checkedAt: now,
    nextCheckAt: firstCheckAt(now),
    changedAt: now,
    problem: null,
    updatedAt: now,
  };
  await tx
    .insert(gitSource)
    .values({ ...values, projectId, createdAt: now })
    .onConflictDoUpdate({ target: gitSource.projectId, set: values });
}
