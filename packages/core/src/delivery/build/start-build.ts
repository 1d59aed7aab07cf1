import type { project } from "@towpath/db/schema";
import { audit } from "../../audit/index.ts";
import { authorizeProject } from "../../authorize/index.ts";
import type { Context, SourceServices } from "../../context/index.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import type { BuildSource } from "../../projects/project/project.schema.ts";
import { chooseRelease, versionCommit } from "../../sources/package/internal.ts";
import {
  builtFromNow,
  builtFromOf,
  findGitSource,
  isSameSource,
  lockAtSource,
  openRepository,
  sourceOf,
} from "../../sources/source/internal.ts";
import { ensureBranch, pullRequestOfForkBranch } from "../branch/index.ts";
import { type StartBuildInput, startBuildSchema } from "./build.schema.ts";
import { newestBuildOf } from "./build.store.ts";
import { type BuildView, findBuildView } from "./build.view.ts";
import { enqueueBuild, insertBuild } from "./queue-build.ts";

const hasNotFailed = new Set(["queued", "building", "succeeded"]);

function isReusable(status: string, reuse: "unless-failed" | "always" | "never"): boolean {
  return reuse === "always" || (reuse === "unless-failed" && hasNotFailed.has(status));
}

/**
 * Builds a commit of a branch (dispatch) or a version of a package, by default the newest. If the branch's newest build is of this commit and the
 * current settings, and `reuse` allows it, returns that build with `created: false`, so that a push which a webhook has
 * already reported isn't built twice.
 *
 * @throws TowpathError `out_of_storage`, `conflict` for a project without a repository or whose source was changed just
 * now, `not_found` for a branch or commit that it doesn't contain, and errors of the repository host
 */
export async function startBuild(call: {
  ctx: Context<SourceServices | "packages">;
  input: StartBuildInput;
}): Promise<{ readonly build: BuildView; readonly created: boolean }> {
  const { ctx } = call;
  const { project: before, organization } = await authorizeProject(ctx, "build.start", {
    orgSlug: call.input.orgSlug,
    projectName: call.input.projectName,
  });
  const input = parseInput(startBuildSchema, call.input);
  const name = input.branch ?? before.defaultBranch;
  if (pullRequestOfForkBranch(name) !== null) {
    throw new TowpathError(
      "conflict",
      "This is a pull request from a fork. Approve its commit instead, on the Deployments page or by `./towpath approve`.",
    );
  }
  await requireStorageForBuilds(ctx);
  const from = await builtFromNow(ctx.db, before);
  const commit = await readSource(ctx, before, { ...input, branch: name });
  const started = await ctx.db.transaction(async (tx) => {
    const project = await lockAtSource(tx, before.id, from);
    const target = { projectId: project.id, name, isDefault: name === project.defaultBranch };
    const branch = await ensureBranch(tx, ctx, target);
    const newest = branch.endedAt ? undefined : await newestBuildOf(tx, branch.id);
    const same =
      newest?.commitSha === commit.sha &&
      isSameSource(builtFromOf(newest, project, from), from) &&
      newest.entrypoint === project.entrypoint &&
      newest.arguments.join("\0") === project.arguments.join("\0") &&
      newest.requirements === project.requirements &&
      newest.rootDirectory === project.rootDirectory;
    if (newest && same && isReusable(newest.status, input.reuse)) return { id: newest.id, created: false };
    const { trigger } = input;
    const row = await insertBuild(tx, ctx, { project, branchId: branch.id, commit, trigger });
    await enqueueBuild(tx, ctx, row.id);
    await audit(tx, ctx, {
      organizationId: organization.id,
      projectId: project.id,
      action: "build.start",
      subject: row.id,
      detail: commit.packageVersion
        ? { package: project.packageName, version: commit.packageVersion, trigger }
        : { branch: name, commit: commit.sha, trigger },
    });
    return { id: row.id, created: true };
  });
  return { build: await findBuildView(ctx, started.id), created: started.created };
}

async function readSource(
  ctx: Context<SourceServices | "packages">,
  of: typeof project.$inferSelect,
  { branch, commitSha, version }: Pick<StartBuildInput, "commitSha" | "version"> & { readonly branch: string },
): Promise<BuildSource> {
  const source = sourceOf(of);
  if (source?.kind === "package") {
    const release = chooseRelease(await ctx.packages.releases(source.name), version);
    return versionCommit(source.name, release.version);
  }
  // Without previews nothing ends the preview of another branch, so there is none.
  if (branch !== of.defaultBranch && (await findGitSource(ctx.db, of.id))?.previews === false) {
    throw new TowpathError(
      "conflict",
      `Only ${of.defaultBranch} is built. Switch on previews in the server's settings to build other branches.`,
    );
  }
  const reader = await openRepository(ctx, of, "build");
  if (reader === null) throw new TowpathError("conflict", "This server has no repository to build from.");
  const { branches } = await reader.refs(branch);
  const sha = branches.get(branch);
  if (sha === undefined) throw notFound("branch");
  return reader.commit({ branch, sha: commitSha ?? sha });
}
