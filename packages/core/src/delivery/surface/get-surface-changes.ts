import { branch, build, deployment, route } from "@towpath/db/schema";
import { compareManifests, type SurfaceChange, toolListTokens } from "@towpath/mcp/manifest";
import { and, desc, eq, isNotNull, lt } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { notFound } from "../../errors/index.ts";
import { authorizeBuild } from "../build/index.ts";
import { readManifest } from "../build/internal.ts";

export type SurfaceChangesView = {
  /** With which build it is compared: `live` serves callers now, `before` did until this one replaced it. */
  readonly against: {
    readonly buildId: string;
    readonly commitSha: string;
    /** Of a package; null for a commit. */
    readonly packageVersion: string | null;
    readonly is: "live" | "before";
  };
  readonly changes: readonly SurfaceChange[];
  /** About how many tokens the list of tools has. */
  readonly toolListTokens: { readonly before: number; readonly after: number };
};

/**
 * What a build changes for who calls the server (BLD-14). One that isn't live is compared with what is live on its
 * branch, and while nothing is, with production; the live one with the version that it replaced. `against` production:
 * what promoting it would change.
 *
 * @returns null when there is nothing to compare with, or one of the two has no manifest
 */
export async function getSurfaceChanges(call: {
  ctx: Context;
  input: { readonly buildId: string; readonly against?: "production" | undefined };
}): Promise<SurfaceChangesView | null> {
  const { ctx, input } = call;
  const { project } = await authorizeBuild(ctx, "build.read", input.buildId);
  return surfaceChangesOf(ctx, { projectId: project.id, ...input });
}

/** The same for a caller that has checked access. */
export async function surfaceChangesOf(
  ctx: Context,
  input: { readonly projectId: string; readonly buildId: string; readonly against?: "production" | undefined },
): Promise<SurfaceChangesView | null> {
  const { projectId } = input;
  const [of] = await ctx.db
    .select({ build, liveDeploymentId: route.deploymentId })
    .from(build)
    .leftJoin(deployment, eq(deployment.buildId, build.id))
    .leftJoin(route, eq(route.deploymentId, deployment.id))
    .where(and(eq(build.projectId, projectId), eq(build.id, input.buildId)));
  if (!of) throw notFound("build");
  const isLive = of.liveDeploymentId !== null && input.against === undefined;
  const { branchId } = of.build;
  const own = () => (isLive ? previous(ctx, of.build) : liveOf(ctx, projectId, branchId));
  const other = (input.against === undefined ? await own() : undefined) ?? (await liveOf(ctx, projectId, null));
  const [before, after] = [readManifest(other?.manifest), readManifest(of.build.manifest)];
  if (!other || other.id === of.build.id || before === null || after === null) return null;
  const is = isLive && other.branchId === of.build.branchId ? "before" : "live";
  return {
    against: { buildId: other.id, commitSha: other.commitSha, packageVersion: other.packageVersion, is },
    changes: compareManifests(before, after),
    toolListTokens: { before: toolListTokens(before), after: toolListTokens(after) },
  };
}

/** The build that was deployed on the same branch before. */
async function previous(ctx: Context, of: typeof build.$inferSelect) {
  const [row] = await ctx.db
    .select({ build })
    .from(build)
    .innerJoin(deployment, eq(deployment.buildId, build.id))
    .where(and(eq(build.branchId, of.branchId), eq(build.status, "succeeded"), lt(build.sequence, of.sequence)))
    .orderBy(desc(build.sequence))
    .limit(1);
  return row?.build;
}

/** The build that is live on a branch; null: on the default one. */
async function liveOf(ctx: Context, projectId: string, branchId: string | null) {
  const [row] = await ctx.db
    .select({ build })
    .from(route)
    .innerJoin(deployment, eq(deployment.id, route.deploymentId))
    .innerJoin(build, eq(build.id, deployment.buildId))
    .innerJoin(branch, eq(branch.id, route.branchId))
    .where(
      and(
        eq(build.projectId, projectId),
        isNotNull(route.branchId),
        branchId === null ? eq(branch.isDefault, true) : eq(branch.id, branchId),
      ),
    );
  return row?.build;
}
