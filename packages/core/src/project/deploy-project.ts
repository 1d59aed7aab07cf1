import { authorize } from "../authorize/index.ts";
import { type BuildView, findBuildView } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { requireStorageForBuilds } from "../host-storage/index.ts";
import { parseInput } from "../input/index.ts";
import { requireUsableInstallation } from "../installation/internal.ts";
import { addressOf, type RepositoryAddress, type RepositoryHost, requireRepositoryHost } from "../ports/index.ts";
import { requireFreeName } from "./check-project-name.ts";
import { createProject } from "./create-project.ts";
import { type Commit, type DeployProjectInput, deployProjectSchema, type Repository } from "./project.schema.ts";
import { nothingLive, type ProjectView, projectView } from "./project.view.ts";
import { requireFiles } from "./require-files.ts";

type Source = { readonly repository: Repository; readonly commit: Commit | null };

/**
 * Deploys a repository: creates project, default branch, secrets and first build in one transaction (ONB-4, ONB-5,
 * OPS-4). An empty repository gets no build before its first push. Dashboard, quickstart, REST and terminal all call
 * this verb, so all validate the same way.
 *
 * @throws TowpathError `invalid_input` by field for VAL-1 to VAL-4, a name that is taken, an installation that the
 * organization doesn't have, and an entrypoint or requirements file that isn't in the commit; `out_of_storage`; errors
 * of the repository host
 */
export async function deployProject(call: {
  ctx: Context;
  input: DeployProjectInput;
}): Promise<{ readonly project: ProjectView; readonly build: BuildView | null }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const { repositoryFullName, commitSha, ...settings } = parseInput(deployProjectSchema, call.input);
  await requireUsableInstallation(ctx.db, organization.id, settings.installationId);
  await requireFreeName(ctx.db, settings.name);
  await requireStorageForBuilds(ctx);
  const address = addressOf(settings.installationId, repositoryFullName);
  const source = await readSource(requireRepositoryHost(ctx), address, commitSha);
  const { repository, commit } = source;
  if (commit) {
    const place = { name: repositoryFullName, branch: repository.defaultBranch, sha: commit.sha };
    await requireFiles(settings, place, (path) => requireRepositoryHost(ctx).fileExists(address, path, commit.sha));
  }
  const { trigger, secrets, ...columns } = settings;
  const created = await ctx.db.transaction((tx) =>
    createProject(tx, ctx, organization.id, {
      columns: {
        ...columns,
        repositoryId: repository.id,
        repositoryFullName: repository.fullName,
        repositoryPrivate: repository.private,
        defaultBranch: repository.defaultBranch,
      },
      source: commit,
      ...{ trigger, secrets },
      origin: { repository: repository.fullName },
    }),
  );
  return {
    project: projectView(ctx, created.row, { orgSlug: organization.slug, ...nothingLive }),
    build: created.buildId === null ? null : await findBuildView(ctx, created.buildId),
  };
}

async function readSource(
  host: RepositoryHost,
  address: RepositoryAddress,
  commitSha: string | undefined,
): Promise<Source> {
  const repository = await host.repository(address);
  const commit = commitSha ? await host.commit(address, commitSha) : await host.head(address, repository.defaultBranch);
  return { repository, commit };
}
