import type { z } from "zod";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { type BuildView, findBuildView } from "../../delivery/build/internal.ts";
import { TowpathError } from "../../errors/index.ts";
import { type FoundRepository, refusedAt, storeGitSource } from "../../sources/source/internal.ts";
import { createProject } from "./create-project.ts";
import type { Commit, deployProjectSchema } from "./project.schema.ts";
import { findProjectState } from "./project.store.ts";
import { type ProjectView, projectView } from "./project.view.ts";
import { type FileSettings, namesFiles, requireFiles } from "./require-files.ts";

type Settings = Omit<z.output<typeof deployProjectSchema>, "installationId" | "repositoryFullName" | "commitSha">;
type Deployed<Build> = { readonly project: ProjectView; readonly build: Build };

/**
 * Creates a project from a repository, wherever it is: with production branch, variables and first build, in one
 * transaction. An empty repository gets no build before its first push. The caller has checked permission, name and storage.
 *
 * @param found `origin`: where it comes from, for the audit log
 * @throws TowpathError as `deployGitUrl`
 */
export async function deployFound(
  ctx: Context<"secrets">,
  organization: { readonly id: string; readonly slug: string },
  { trigger, secrets, access, ...settings }: Settings,
  found: FoundRepository & { readonly origin: Readonly<Record<string, unknown>> },
): Promise<Deployed<BuildView | null>> {
  const { branch, columns, git, origin, field } = found;
  if (access !== undefined) await authorize(ctx, "access.manage", { orgSlug: organization.slug });
  const commit = await refusedAt(field, () => readCommit(found, settings));
  const { row, buildId } = await ctx.db.transaction((tx) =>
    createProject(tx, ctx, organization.id, {
      columns: { ...settings, ...columns, defaultBranch: branch },
      source: commit,
      trigger,
      secrets,
      access,
      origin,
      storeSource: async (of) => {
        if (git !== null) await storeGitSource(tx, ctx, of, branch, git);
      },
    }),
  );
  const state = await findProjectState(ctx.db, row);
  return {
    project: projectView(ctx, row, { orgSlug: organization.slug, ...state }),
    build: buildId === null ? null : await findBuildView(ctx, buildId),
  };
}

/** Of a repository that has commits. */
export function withBuild({ project, build }: Deployed<BuildView | null>): Deployed<BuildView> {
  if (build === null) throw new TowpathError("internal", "The build could not be queued.");
  return { project, build };
}

/** The commit, with the files that the settings name; null for an empty repository. */
async function readCommit({ reader, branch, sha, name }: FoundRepository, files: FileSettings): Promise<Commit | null> {
  if (sha === null) return null;
  const at = { branch, sha };
  if (!namesFiles(files)) return reader.commit(at);
  const checkout = await reader.checkout(at);
  try {
    await requireFiles(files, { name, ...at }, (path) => checkout.has(path));
    return checkout.commit;
  } finally {
    await checkout.close();
  }
}
