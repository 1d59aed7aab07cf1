import type { Transaction } from "@towpath/db";
import { branch, branchReport, project } from "@towpath/db/schema";
import { asc, eq, inArray } from "drizzle-orm";
import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Context, SourceServices } from "../../context/index.ts";
import { enqueueLeaving, ensureBranch } from "../../delivery/branch/index.ts";
import { type BuildView, enqueueBuild, findBuildView, insertBuild } from "../../delivery/build/internal.ts";
import { notFound, TowpathError } from "../../errors/index.ts";
import { parseInput } from "../../input/index.ts";
import { requireStorageForBuilds } from "../../operations/host-storage/index.ts";
import { fileOfEntrypoint } from "../../projects/project/entrypoint.schema.ts";
import { closeFork, endBranch, followDefaultBranch } from "../webhook/internal.ts";
import { sourceView } from "./get-source.ts";
import { changeSourceSchema } from "./git-source.schema.ts";
import type { SourceView } from "./git-source.view.ts";
import { type NextSource, readNextSource } from "./next-source.ts";
import { describeSource, setSource } from "./set-source.ts";
import { sourceOf } from "./source.ts";

type ChangeSourceInput = z.input<typeof changeSourceSchema>;
type ProjectRow = typeof project.$inferSelect;

/**
 * Has a server built from a Git URL, a repository of this instance or of GitHub, or a package, instead of what it was built
 * from (SRC-1). Name, address, variables, logs and deployments stay, and what is live stays live until the first build from
 * there replaces it. Previews of the earlier source end. For a package, settings that name files of a repository are
 * cleared: it has none, and no build could succeed.
 *
 * @throws TowpathError `conflict` for a project that isn't built here; `invalid_input` and others as `readNextSource`
 */
export async function changeSource(call: {
  ctx: Context<SourceServices | "packages">;
  input: ProjectScope & ChangeSourceInput;
}): Promise<{ readonly source: SourceView; readonly build: BuildView }> {
  const { ctx } = call;
  const { project: of, organization } = await authorizeProject(ctx, "project.update", call.input);
  const input = parseInput(changeSourceSchema, call.input);
  if (sourceOf(of) === null) {
    throw new TowpathError("conflict", "Only a server that Towpath builds has a source. This one runs elsewhere.");
  }
  await requireStorageForBuilds(ctx);
  const next = await readNextSource(ctx, organization, input);
  const after = await ctx.db.transaction((tx) => move(tx, ctx, of.id, next));
  return { source: await sourceView(ctx, after.project), build: await findBuildView(ctx, after.buildId) };
}

async function move(tx: Transaction, ctx: Context<"secrets">, projectId: string, next: NextSource) {
  // Lock order everywhere: project first, then branches by id.
  const [before] = await tx.select().from(project).where(eq(project.id, projectId)).for("no key update");
  if (!before) throw notFound("server");
  const branches = await tx
    .select()
    .from(branch)
    .where(eq(branch.projectId, projectId))
    .orderBy(asc(branch.id))
    .for("no key update");
  const from = await describeSource(tx, before);
  await enqueueLeaving(tx, ctx, [projectId], { deleted: false });
  const isPackage = next.columns.packageName !== null;
  const moved = await setSource(tx, ctx, before, next, {
    ...(isPackage && withoutFiles(before)),
    sourceChangedAt: ctx.clock.now(),
  });
  await forgetHost(
    tx,
    branches.map(({ id }) => id),
  );
  const target = { projectId, name: next.branch, isDefault: next.branch === before.defaultBranch };
  const production = await ensureBranch(tx, ctx, target);
  if (!production.isDefault) await followDefaultBranch(tx, ctx, { project: moved, branch: production });
  for (const { id, name } of branches) {
    if (id === production.id) continue;
    await closeFork(tx, id);
    await endBranch(tx, ctx, { project: moved, branchName: name, reason: "source changed" });
  }
  const after = { ...moved, defaultBranch: next.branch };
  const trigger = isPackage ? "package" : "import";
  const { commit } = next;
  const { id: buildId } = await insertBuild(tx, ctx, { project: after, branchId: production.id, commit, trigger });
  await enqueueBuild(tx, ctx, buildId);
  await audit(tx, ctx, {
    organizationId: before.organizationId,
    projectId,
    action: "source.change",
    subject: before.name,
    detail: {
      from,
      to: next.to,
      ...(isPackage
        ? { version: commit.packageVersion, follow: next.columns.followsPackage }
        : { branch: next.branch, commit: commit.sha }),
      credential: next.git?.given?.credential.kind ?? null,
    },
  });
  return { project: after, buildId };
}

const withoutFiles = ({ entrypoint }: ProjectRow) => ({
  ...(fileOfEntrypoint(entrypoint) !== null && { entrypoint: "" }),
  requirements: null,
  rootDirectory: null,
  watchPaths: [],
});

/** Pull requests, heads and checks of the earlier repository have numbers that mean others in the next one. */
async function forgetHost(tx: Transaction, branchIds: readonly string[]): Promise<void> {
  if (branchIds.length === 0) return;
  await tx
    .update(branch)
    .set({
      pullRequestNumber: null,
      pullRequestUrl: null,
      skippedCommitSha: null,
      skippedCommitMessage: null,
      skippedAt: null,
    })
    .where(inArray(branch.id, [...branchIds]));
  await tx
    .update(branchReport)
    .set({ headCommitSha: null, headCheckRunId: null, headCheck: null })
    .where(inArray(branchReport.branchId, [...branchIds]));
}
