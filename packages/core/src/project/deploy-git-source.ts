import type { Transaction } from "@towpath/db";
import { gitSource } from "@towpath/db/schema";
import type { z } from "zod";
import { type BuildView, findBuildView } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import type { GitCommitRef, GitHeads, GitReader } from "../ports/index.ts";
import type { deployRepositorySchema } from "../repository/repository.schema.ts";
import { firstCheckAt, refusedAt, storedHeads } from "../source/internal.ts";
import { createProject } from "./create-project.ts";
import type { Commit } from "./project.schema.ts";
import { findProjectState } from "./project.store.ts";
import { type ProjectView, projectView } from "./project.view.ts";
import { type FileSettings, namesFiles, requireFiles } from "./require-files.ts";

type Settings = Omit<z.output<typeof deployRepositorySchema>, "repository" | "branch" | "previews">;
type Columns = Omit<typeof gitSource.$inferInsert, "projectId">;

/** A Git repository that was read, from which a project is to be built. */
export type FoundRepository = {
  /** For people. */
  readonly name: string;
  /** Of the input; names it. */
  readonly field: string;
  readonly reader: GitReader;
  readonly heads: GitHeads;
  /** What goes live. */
  readonly at: GitCommitRef;
  /** For the audit log. */
  readonly origin: Readonly<Record<string, unknown>>;
  /** What `git_source` keeps of it; called in the transaction that creates the project. */
  readonly columns: (tx: Transaction, projectId: string) => Promise<Columns>;
};

/**
 * Creates a project from a Git repository, wherever it is: with production branch, variables and first build, in one
 * transaction. The caller has checked permission, name and storage.
 *
 * @throws TowpathError as `deployGitUrl`
 */
export async function deployGitSource(
  ctx: Context,
  organization: { readonly id: string; readonly slug: string },
  { trigger, secrets, ...settings }: Settings,
  found: FoundRepository,
): Promise<{ readonly project: ProjectView; readonly build: BuildView }> {
  const { heads, at, origin, field } = found;
  const commit = await refusedAt(field, () => readCommit(found, settings));
  const storeSource = async (tx: Transaction, projectId: string) => {
    const now = ctx.clock.now();
    await tx.insert(gitSource).values({
      ...(await found.columns(tx, projectId)),
      projectId,
      heads: storedHeads(heads.branches, at.branch),
      ...{ checkedAt: now, nextCheckAt: firstCheckAt(now), changedAt: now, createdAt: now, updatedAt: now },
    });
  };
  const created = await ctx.db.transaction((tx) =>
    createProject(tx, ctx, organization.id, {
      columns: { ...settings, defaultBranch: at.branch },
      source: commit,
      ...{ trigger, secrets, origin, storeSource },
    }),
  );
  if (created.buildId === null) throw new TowpathError("internal", "The build could not be queued.");
  const state = await findProjectState(ctx.db, created.row);
  return {
    project: projectView(ctx, created.row, { orgSlug: organization.slug, ...state }),
    build: await findBuildView(ctx, created.buildId),
  };
}

/** The commit, with the files that the settings name. */
async function readCommit({ reader, at, name }: FoundRepository, files: FileSettings): Promise<Commit> {
  if (!namesFiles(files)) return reader.commit(at);
  const checkout = await reader.checkout(at);
  try {
    const paths = new Set(checkout.paths);
    await requireFiles(files, { name, ...at }, async (path) => paths.has(path));
    return checkout.commit;
  } finally {
    await checkout.close();
  }
}
