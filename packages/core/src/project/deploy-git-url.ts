import { gitSource } from "@towpath/db/schema";
import { authorize } from "../authorize/index.ts";
import { type BuildView, findBuildView } from "../build/internal.ts";
import type { Context } from "../context/index.ts";
import { TowpathError } from "../errors/index.ts";
import { requireStorageForBuilds } from "../host-storage/index.ts";
import { parseInput } from "../input/index.ts";
import { type GitCommitRef, type GitRemote, requireGitRemotes } from "../ports/index.ts";
import { type DeployGitUrlInput, deployGitUrlSchema } from "../source/git-source.schema.ts";
import {
  chooseBranch,
  firstCheckAt,
  givenCredential,
  movedUrl,
  nameOfUrl,
  readRefs,
  refusedAt,
  sealedCredential,
  storedHeads,
} from "../source/internal.ts";
import { requireFreeName } from "./check-project-name.ts";
import { createProject } from "./create-project.ts";
import type { Commit } from "./project.schema.ts";
import { nothingLive, type ProjectView, projectView } from "./project.view.ts";
import { type FileSettings, namesFiles, requireFiles } from "./require-files.ts";

/**
 * Deploys the repository behind a Git URL (SRC-2): creates project, production branch, variables and first build in one
 * transaction. A public repository needs no account anywhere; a credential is stored sealed for the URL's origin.
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
  const input = parseInput(deployGitUrlSchema, call.input);
  const { gitUrl, branch: named, previews, credential: givenInput, trigger, secrets, ...settings } = input;
  await requireFreeName(ctx.db, settings.name);
  await requireStorageForBuilds(ctx);
  const given = givenCredential(ctx, organization.id, givenInput);
  const asked = { url: gitUrl, credential: given?.credential ?? null };
  const refs = await readRefs(ctx, asked, "gitUrl");
  const at = chooseBranch(refs, { branch: named, urlField: "gitUrl" });
  const remote = { ...asked, url: movedUrl(asked, refs) };
  const commit = await refusedAt("gitUrl", () => readCommit(ctx, remote, at, settings));
  const created = await ctx.db.transaction(async (tx) => {
    const made = await createProject(tx, ctx, organization.id, {
      columns: { ...settings, defaultBranch: at.branch },
      source: commit,
      ...{ trigger, secrets },
      origin: { url: remote.url, branch: at.branch, credential: given?.credential.kind ?? null },
    });
    const owner = { organizationId: organization.id, projectId: made.row.id };
    const now = ctx.clock.now();
    await tx.insert(gitSource).values({
      projectId: made.row.id,
      url: remote.url,
      branch: named ?? null,
      previews,
      ...(await sealedCredential(tx, ctx, { ...owner, url: remote.url, version: 1 }, given)),
      heads: storedHeads(refs.branches, at.branch),
      ...{ checkedAt: now, nextCheckAt: firstCheckAt(now), changedAt: now, createdAt: now, updatedAt: now },
    });
    return made;
  });
  if (created.buildId === null) throw new TowpathError("internal", "The build could not be queued.");
  const git = { url: remote.url, previews, checkedAt: null, problem: null };
  return {
    project: projectView(ctx, created.row, {
      orgSlug: organization.slug,
      ...nothingLive,
      git: { ...git, credentialExpiresAt: given?.expiresAt ?? null },
    }),
    build: await findBuildView(ctx, created.buildId),
  };
}

/** The commit, with the files that the settings name. */
async function readCommit(ctx: Context, remote: GitRemote, at: GitCommitRef, files: FileSettings): Promise<Commit> {
  const remotes = requireGitRemotes(ctx);
  if (!namesFiles(files)) return remotes.commit(remote, at);
  const checkout = await remotes.checkout(remote, at);
  try {
    const paths = new Set(checkout.paths);
    const place = { name: nameOfUrl(remote.url), branch: at.branch, sha: at.sha };
    await requireFiles(files, place, async (path) => paths.has(path));
    return checkout.commit;
  } finally {
    await checkout.close();
  }
}
