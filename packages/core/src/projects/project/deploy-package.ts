import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { type BuildView, findBuildView } from "../../delivery/build/internal.ts";
import { TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { chooseRelease, packageBranch, versionCommit } from "../../sources/package/internal.ts";
import { type DeployPackageInput, deployPackageSchema } from "../../sources/package/package.schema.ts";
import { requireFreeName } from "./check-project-name.ts";
import { createProject } from "./create-project.ts";
import { nothingLive, type ProjectView, projectView } from "./project.view.ts";

/**
 * Deploys a version of a package on the index, as it is (BLD-17): creates the project with its first build. What the
 * package starts with is found when it is installed, unless an entrypoint is named.
 *
 * @throws TowpathError `invalid_input` by field, also for a package or version that the index doesn't have;
 * `out_of_storage`; `upstream_unavailable`
 */
export async function deployPackage(call: {
  ctx: Context<"packages" | "secrets">;
  input: DeployPackageInput;
}): Promise<{ readonly project: ProjectView; readonly build: BuildView }> {
  const { ctx } = call;
  const { organization } = await authorize(ctx, "project.create", { orgSlug: call.input.orgSlug });
  const { packageName, version, follow, secrets, access, ...settings } = parseInput(deployPackageSchema, call.input);
  if (access !== undefined) await authorize(ctx, "access.manage", { orgSlug: call.input.orgSlug });
  await requireFreeName(ctx.db, settings.name);
  await requireStorageForBuilds(ctx);
  const release = chooseRelease(await releasesOf(ctx, packageName), version);
  const created = await ctx.db.transaction((tx) =>
    createProject(tx, ctx, organization.id, {
      columns: { ...settings, packageName, followsPackage: follow, defaultBranch: packageBranch },
      source: versionCommit(packageName, release.version),
      trigger: "package",
      secrets,
      access,
      origin: { package: packageName, version: release.version, follow },
    }),
  );
  if (created.buildId === null) throw new TowpathError("internal", "The package's build could not be queued.");
  return {
    project: projectView(ctx, created.row, { orgSlug: organization.slug, ...nothingLive }),
    build: await findBuildView(ctx, created.buildId),
  };
}

async function releasesOf(ctx: Context<"packages">, name: string) {
  try {
    return await ctx.packages.releases(name);
  } catch (error) {
    if (!(error instanceof TowpathError) || error.code !== "not_found") throw error;
    throw new TowpathError("invalid_input", error.message, { fields: { packageName: error.message } });
  }
}
