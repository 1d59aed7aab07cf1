import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import type { BuildView } from "../../delivery/build/internal.ts";
import { parseInput } from "../../input/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { type DeployRepositoryInput, deployRepositorySchema } from "../../sources/repository/repository.schema.ts";
import { findHere } from "../../sources/source/internal.ts";
import { requireFreeName } from "./check-project-name.ts";
import { deployFound, withBuild } from "./deploy-found.ts";
import type { ProjectView } from "./project.view.ts";

/**
 * Deploys a repository of this instance (SRC-3), as `deployGitUrl` does one behind a URL.
 *
 * @throws TowpathError `invalid_input` by field, `repository` and `branch` among them; `out_of_storage`
 */
export async function deployRepository(call: {
  ctx: Context<"instanceRepositories" | "secrets">;
  input: DeployRepositoryInput;
}): Promise<{ readonly project: ProjectView; readonly build: BuildView }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const { repository, branch, previews, ...settings } = parseInput(deployRepositorySchema, call.input);
  await requireFreeName(ctx.db, settings.name);
  await requireStorageForBuilds(ctx);
  const found = await findHere(ctx, organization.id, repository, { branch, previews });
  const origin = { repository, branch: found.branch };
  return withBuild(await deployFound(ctx, organization, settings, { ...found, origin }));
}
