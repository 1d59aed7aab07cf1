import { authorize } from "../authorize/index.ts";
import type { BuildView } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { requireStorageForBuilds } from "../host-storage/index.ts";
import { parseInput } from "../input/index.ts";
import { type DeployGitUrlInput, deployGitUrlSchema } from "../source/git-source.schema.ts";
import {
  chooseBranch,
  givenCredential,
  movedUrl,
  nameOfUrl,
  readerOf,
  readRefs,
  refusedAtUrl,
  repositoryHere,
  sealedCredential,
} from "../source/internal.ts";
import { requireFreeName } from "./check-project-name.ts";
import { deployGitSource } from "./deploy-git-source.ts";
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
  ctx: Context;
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
  const given = givenCredential(ctx, organization.id, credential);
  const asked = { url: gitUrl, credential: given?.credential ?? null };
  const heads = await readRefs(ctx, asked, "gitUrl");
  const at = chooseBranch(heads, { branch, urlField: "gitUrl" });
  const url = movedUrl(asked, heads.url);
  return deployGitSource(ctx, organization, settings, {
    ...{ name: nameOfUrl(url), field: "gitUrl", reader: readerOf(ctx, { ...asked, url }), heads, at },
    origin: { url, branch: at.branch, credential: given?.credential.kind ?? null },
    columns: async (tx, projectId) => ({
      ...{ url, branch: branch ?? null, previews },
      ...(await sealedCredential(tx, ctx, { organizationId: organization.id, projectId, url, version: 1 }, given)),
    }),
  });
}
