import { build, deployment, organization, repository, repositoryBundles } from "@towpath/db/schema";
import { and, eq, inArray, isNotNull, or, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { isId } from "../../input/index.ts";

/** Digests of the layers of all deployments and of builds under way; a promotion has its layers while it waits. */
export async function referencedLayers(call: { ctx: Context }): Promise<ReadonlySet<string>> {
  const { ctx } = call;
  authorizePlatform(ctx);
  const rows = await ctx.db
    .selectDistinct({
      dependencies: sql<string | null>`${build.layers} ->> 'dependencies'`,
      code: sql<string | null>`${build.layers} ->> 'code'`,
    })
    .from(build)
    .leftJoin(deployment, eq(deployment.buildId, build.id))
    .where(or(isNotNull(deployment.id), inArray(build.status, ["queued", "building"])));
  return new Set(rows.flatMap(({ dependencies, code }) => [dependencies, code]).filter((each) => each !== null));
}

/** Digests of the bundles that repositories of this instance consist of, where they are stored as bundles. */
export async function referencedBundles(call: { ctx: Context }): Promise<ReadonlySet<string>> {
  const { ctx } = call;
  authorizePlatform(ctx);
  const rows = await ctx.db.select({ bundles: repositoryBundles.bundles }).from(repositoryBundles);
  return new Set(rows.flatMap(({ bundles }) => bundles));
}

/** Which of these organizations exist. */
export async function existingOrganizations({
  ctx,
  input,
}: Call<{ readonly ids: readonly string[] }>): Promise<ReadonlySet<string>> {
  authorizePlatform(ctx);
  const ids = [...input.ids];
  const existing = await ctx.db.select({ id: organization.id }).from(organization).where(inArray(organization.id, ids));
  return new Set(existing.map(({ id }) => id));
}

/** Which of these repositories of this instance exist. */
export async function existingRepositories({
  ctx,
  input,
}: Call<{ readonly ids: readonly string[] }>): Promise<ReadonlySet<string>> {
  authorizePlatform(ctx);
  const ids = [...input.ids];
  const existing = await ctx.db.select({ id: repository.id }).from(repository).where(inArray(repository.id, ids));
  return new Set(existing.map(({ id }) => id));
}

/** Which of these builds run, with whichever worker. */
export async function runningBuilds(call: Call<{ readonly ids: readonly string[] }>): Promise<ReadonlySet<string>> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const named = inArray(build.id, input.ids.filter(isId));
  const running = await ctx.db
    .select({ id: build.id })
    .from(build)
    .where(and(named, eq(build.status, "building")));
  return new Set(running.map(({ id }) => id));
}
