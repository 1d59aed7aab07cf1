import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import type { BuildView } from "../../delivery/build/internal.ts";
import { parseInput } from "../../input/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { findAtGitHub } from "../../sources/source/internal.ts";
import { requireFreeName } from "./check-project-name.ts";
import { deployFound } from "./deploy-found.ts";
import { type DeployProjectInput, deployProjectSchema } from "./project.schema.ts";
import type { ProjectView } from "./project.view.ts";

/**
 * Deploys a repository of GitHub: creates project, default branch, secrets and first build in one transaction (ONB-4, ONB-5,
 * OPS-4). An empty repository gets no build before its first push. Dashboard, quickstart, REST and terminal all call
 * this verb, so all validate the same way.
 *
 * @throws TowpathError `invalid_input` by field for VAL-1 to VAL-4, a name that is taken, an installation that the
 * organization doesn't have, and an entrypoint or requirements file that isn't in the commit; `out_of_storage`; errors
 * of the repository host
 */
export async function deployProject(call: {
  ctx: Context<"repositories" | "secrets">;
  input: DeployProjectInput;
}): Promise<{ readonly project: ProjectView; readonly build: BuildView | null }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const { installationId, repositoryFullName, commitSha, ...settings } = parseInput(deployProjectSchema, call.input);
  await requireFreeName(ctx.db, settings.name);
  await requireStorageForBuilds(ctx);
  const at = { installationId, fullName: repositoryFullName, commitSha, field: null };
  const found = await findAtGitHub(ctx, organization.id, at);
  return deployFound(ctx, organization, settings, { ...found, origin: { repository: found.name } });
}
