import { build, project } from "@towpath/db/schema";
import { and, eq, isNotNull } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { chooseRelease, versionCommit } from "../../sources/package/internal.ts";
import { ensureBranch } from "../branch/index.ts";
import { enqueueBuild, insertBuild } from "./queue-build.ts";

/**
 * Builds the newest version of each package that a project follows (BLD-17), unless that version was built before: a
 * version that failed isn't tried again, and one that was replaced by an older one stays replaced. Asks the index once
 * for each package. May run in several workers at a time.
 *
 * @param input.onProblem is called for each package whose versions can't be read; the others are still checked
 * @returns how many builds were queued
 */
export async function buildNewVersions(call: {
  ctx: Context<"packages">;
  input: { readonly signal: AbortSignal; readonly onProblem: (name: string, error: unknown) => void };
}): Promise<number> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const following = await ctx.db
    .select()
    .from(project)
    .where(and(eq(project.followsPackage, true), isNotNull(project.packageName)));
  let queued = 0;
  for (const [name, projects] of Map.groupBy(following, (row) => row.packageName ?? "")) {
    if (input.signal.aborted) break;
    try {
      const { version } = chooseRelease(await ctx.packages.releases(name, input.signal), null);
      for (const row of projects) if (await buildVersion(ctx, row, version)) queued++;
    } catch (error) {
      if (!input.signal.aborted) input.onProblem(name, error);
    }
  }
  return queued;
}

function buildVersion(ctx: Context, of: typeof project.$inferSelect, version: string): Promise<boolean> {
  return ctx.db.transaction(async (tx) => {
    // Its settings may have changed, or it may be gone.
    const [row] = await tx
      .select()
      .from(project)
      .where(and(eq(project.id, of.id), eq(project.followsPackage, true)))
      // Its source can't change meanwhile.
      .for("no key update");
    if (!row || row.packageName === null) return false;
    const branch = await ensureBranch(tx, ctx, { projectId: row.id, name: row.defaultBranch, isDefault: true });
    const commit = versionCommit(row.packageName, version);
    // By its id: the project may have run another package before, whose versions may have the same numbers.
    const [known] = await tx
      .select({ id: build.id })
      .from(build)
      .where(and(eq(build.branchId, branch.id), eq(build.commitSha, commit.sha)))
      .limit(1);
    if (known) return false;
    const { id } = await insertBuild(tx, ctx, { project: row, branchId: branch.id, commit, trigger: "package" });
    await enqueueBuild(tx, ctx, id);
    await audit(tx, ctx, {
      organizationId: row.organizationId,
      projectId: row.id,
      action: "build.start",
      subject: id,
      detail: { package: row.packageName, version, trigger: "package" },
    });
    return true;
  });
}
