import { authorize } from "../../authorize/index.ts";
import type { Context, GitServices } from "../../context/index.ts";
import type { BuildView } from "../../delivery/build/internal.ts";
import { parseInput } from "../../input/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { type DeployGitUrlInput, deployGitUrlSchema } from "../../sources/source/git-source.schema.ts";
import { findAtUrl, refusedAtUrl, repositoryHere } from "../../sources/source/internal.ts";
import { requireFreeName } from "./check-project-name.ts";
import { deployFound, withBuild } from "./deploy-found.ts";
import { deployRepository } from "./deploy-repository.ts";
import type { ProjectView } from "./project.view.ts";

/**
 * Deploys the repository behind a Git URL (SRC-2): creates project, production branch, variables and first build in one
 * transaction. A public repository needs no account anywhere; a credential is stored sealed for the URL's origin. The
 * clone URL of a repository of this instance deploys that repository.
 *
 * @throws TowpathError `invalid_input` by field as `deployProject`, and `gitUrl`, `branch`, `credential` for a repository
 * that can't be read, is empty or has no such branch; `out_of_storage`, `upstream_unavailable`
 */
export async function deployGitUrl(call: {
  ctx: Context<GitServices>;
  input: DeployGitUrlInput;
}): Promise<{ readonly project: ProjectView; readonly build: BuildView }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const { gitUrl, branch, previews, credential, ...settings } = parseInput(deployGitUrlSchema, call.input);
  const repository = await repositoryHere(ctx, organization, { gitUrl, field: "gitUrl" });
  if (repository !== null) {
    const { gitUrl: _url, credential: _credential, ...input } = call.input;
    return refusedAtUrl("gitUrl", () => deployRepository({ ctx, input: { ...input, repository } }));
  }
  await requireFreeName(ctx.db, settings.name);
  await requireStorageForBuilds(ctx);
  const { url, ...found } = await findAtUrl(ctx, organization.id, gitUrl, { branch, previews, credential });
  const origin = { url, branch: found.branch, credential: found.git?.given?.credential.kind ?? null };
  return withBuild(await deployFound(ctx, organization, settings, { ...found, origin }));
}
