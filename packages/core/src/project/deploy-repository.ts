import { authorize } from "../authorize/index.ts";
import type { BuildView } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { requireStorageForBuilds } from "../host-storage/index.ts";
import { parseInput } from "../input/index.ts";
import { requireInstanceRepositories } from "../ports/index.ts";
import { keepRepository, requireRepository } from "../repository/internal.ts";
import { type DeployRepositoryInput, deployRepositorySchema } from "../repository/repository.schema.ts";
import { chooseBranch, refusedAt } from "../source/internal.ts";
import { requireFreeName } from "./check-project-name.ts";
import { deployGitSource } from "./deploy-git-source.ts";
import type { ProjectView } from "./project.view.ts";

/**
 * Deploys a repository of this instance (SRC-3), as `deployGitUrl` does one behind a URL.
 *
 * @throws TowpathError `invalid_input` by field, `repository` and `branch` among them; `out_of_storage`
 */
export async function deployRepository(call: {
  ctx: Context;
  input: DeployRepositoryInput;
}): Promise<{ readonly project: ProjectView; readonly build: BuildView }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const { repository: name, branch, previews, ...settings } = parseInput(deployRepositorySchema, call.input);
  await requireFreeName(ctx.db, settings.name);
  await requireStorageForBuilds(ctx);
  const { id } = await refusedAt("repository", () => requireRepository(ctx.db, organization.id, name));
  const reader = requireInstanceRepositories(ctx).open(id);
  const heads = await reader.refs();
  const at = chooseBranch(heads, { branch, urlField: "repository" });
  return deployGitSource(ctx, organization, settings, {
    ...{ name, field: "repository", reader, heads, at },
    origin: { repository: name, branch: at.branch },
    columns: async (tx) => {
      await keepRepository(tx, organization.id, id);
      return { repositoryId: id, branch: branch ?? null, previews };
    },
  });
}
