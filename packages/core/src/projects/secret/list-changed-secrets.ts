import { branch, build, deployment, route, secretVersion } from "@towpath/db/schema";
import { and, desc, eq, inArray } from "drizzle-orm";
import { authorizeProject } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { listCurrentVersions } from "./secret.store.ts";

/** A live deployment that runs with other variables than the project has now. */
type ChangedSecrets = {
  readonly branch: string;
  readonly environment: string;
  /** The build to redeploy, which applies the changes. */
  readonly buildId: string;
  /** Names of variables that were added, changed or deleted since, in order. */
  readonly keyNames: readonly string[];
};

/**
 * Live deployments whose variables have changed since they were built, production first. Not those of releases that
 * did not keep versions: it isn't known what they run with.
 */
export async function listChangedSecrets({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly projectName: string }>): Promise<readonly ChangedSecrets[]> {
  const { project } = await authorizeProject(ctx, "secret.read", {
    orgSlug: input.orgSlug,
    projectName: input.projectName,
  });
  const live = await ctx.db
    .select({
      branch: branch.name,
      environment: deployment.environment,
      buildId: build.id,
      pinned: build.secretVersionIds,
    })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, deployment.branchId))
    .where(eq(route.projectId, project.id))
    .orderBy(desc(branch.isDefault), branch.name);
  const current = await listCurrentVersions(ctx.db, project.id);
  const pinnedIds = live.flatMap(({ pinned }) => pinned ?? []);
  const kept = await ctx.db
    .select({ id: secretVersion.id, keyName: secretVersion.keyName })
    .from(secretVersion)
    .where(and(eq(secretVersion.projectId, project.id), inArray(secretVersion.id, pinnedIds)));
  return live.flatMap(({ pinned, ...each }) => {
    if (pinned === null) return [];
    const stored = current
      .filter(({ secret }) => secret.environments.includes(each.environment))
      .map(({ secret, versionId }) => ({ id: versionId, keyName: secret.keyName }));
    const deployed = kept.filter(({ id }) => pinned.includes(id));
    const differing = [
      ...stored.filter(({ id }) => !pinned.includes(id)),
      ...deployed.filter(({ id }) => !stored.some((one) => one.id === id)),
    ];
    const keyNames = [...new Set(differing.map(({ keyName }) => keyName))].sort();
    return keyNames.length === 0 ? [] : [{ ...each, keyNames }];
  });
}
