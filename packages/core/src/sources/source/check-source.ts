import type { Transaction } from "@towpath/db";
import { build, gitSource, project } from "@towpath/db/schema";
import { and, asc, eq, lte, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import { authorizePlatform, authorizeProject, type ProjectScope } from "../../authorize/index.ts";
import type { Call, Context, GitServices, SourceServices } from "../../context/index.ts";
import { isId } from "../../input/index.ts";
import type { GitHeads } from "../../ports/index.ts";
import { checkGitHubRepository } from "../github-check/internal.ts";
import { hintBranch } from "../webhook/internal.ts";
import { changesOf, headsOf, problemOf } from "./following.ts";
import { sourceView } from "./get-source.ts";
import { type GitSourceRow, recordFailure, requireGitSource, sameGitSource } from "./git-source.store.ts";
import { followedSourceView, hostOfUrl, type SourceView } from "./git-source.view.ts";
import { openGitSource } from "./open-source.ts";
import { claimedUntil, nextCheckAt, nextLookAt } from "./pauses.ts";
import { movedUrl } from "./read-refs.ts";
import { sourceOf } from "./source.ts";

type ProjectRow = typeof project.$inferSelect;
type Checked = { readonly row: GitSourceRow; readonly project: ProjectRow };

/**
 * Asks a project's repository, wherever it is, now which branches have changed (SRC-2, GH-6).
 *
 * @throws TowpathError `not_found` for a package, and a repository of GitHub that no installation can read
 */
export async function checkSource(call: Call<ProjectScope, SourceServices>): Promise<SourceView> {
  const { ctx } = call;
  const { project: found } = await authorizeProject(ctx, "build.start", call.input);
  if (sourceOf(found)?.kind === "github") {
    await checkGitHubRepository(ctx, found);
    return sourceView(ctx, found);
  }
  const row = await requireGitSource(ctx.db, found.id);
  const after = await check(ctx, { row, project: found });
  return followedSourceView(ctx.db, ctx, after.project, after.row);
}

/** The same for the platform: a webhook or a push came, or the source was changed. */
export async function checkGitSource({ ctx, input }: Call<{ readonly projectId: string }, GitServices>): Promise<void> {
  authorizePlatform(ctx);
  if (!isId(input.projectId)) return;
  const [found] = await ctx.db
    .select({ row: gitSource, project })
    .from(gitSource)
    .innerJoin(project, eq(project.id, gitSource.projectId))
    .where(eq(gitSource.projectId, input.projectId));
  if (found) await check(ctx, found);
}

/**
 * Asks Git URLs that are due, a few in a round; for the worker. Returns how many there were. Repositories of this instance
 * are among them now and then, in case a push was stored by a process that ended before it could say so.
 */
export async function checkDueGitSources(call: Call<{ readonly limit: number }, GitServices>): Promise<number> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const due = await ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const rows = await tx
      .select({ row: gitSource, project })
      .from(gitSource)
      .innerJoin(project, eq(project.id, gitSource.projectId))
      .where(lte(gitSource.nextCheckAt, now))
      .orderBy(asc(gitSource.nextCheckAt))
      .limit(input.limit)
      // Other workers take others.
      .for("update", { of: gitSource, skipLocked: true });
    for (const { row } of rows) {
      const claimed = { nextCheckAt: claimedUntil(now) };
      await tx.update(gitSource).set(claimed).where(eq(gitSource.projectId, row.projectId));
    }
    return rows;
  });
  await Promise.all(due.map((each) => check(ctx, each)));
  return due.length;
}

/** A check that fails ends nothing: its problem is shown, and what is live stays. */
async function check(ctx: Context<GitServices>, before: Checked): Promise<Checked> {
  const { row, project: of } = before;
  let refs: GitHeads;
  let url = row.url;
  try {
    const found = await (await openGitSource(ctx, of.organizationId, row, "check")).refs();
    refs = found;
    if (url !== null) url = movedUrl({ url, credential: row.credentialCiphertext }, found.url);
  } catch (error) {
    return { ...before, row: await recordFailure(ctx, row, error) };
  }
  return ctx.db.transaction((tx) => apply(tx, ctx, before, { refs, url }));
}

type Answer = { readonly refs: GitHeads; readonly url: string | null };

/** Hints at branches whose heads have changed: as with a webhook, their jobs ask how they are now (decision 007). */
async function apply(tx: Transaction, ctx: Context, before: Checked, { refs, url }: Answer): Promise<Checked> {
  // Lock order everywhere: project first.
  const [of] = await tx.select().from(project).where(eq(project.id, before.project.id)).for("no key update");
  const [row] = await tx.select().from(gitSource).where(eq(gitSource.projectId, before.row.projectId)).for("update");
  // Somebody has named another repository, branch or credential since, and has it checked.
  if (!of || !row || !sameGitSource(row, before.row)) return { row: row ?? before.row, project: of ?? before.project };
  const live = row.branch ?? refs.defaultBranch ?? of.defaultBranch;
  const known = headsOf(row);
  const isLiveDue = known?.get(live) !== refs.branches.get(live) || live !== of.defaultBranch || row.problem !== null;
  const found = changesOf({
    before: known,
    heads: refs.branches,
    live,
    previews: row.previews,
    isLiveDue: isLiveDue && refs.branches.has(live),
  });
  for (const { name, mayBeNew } of found.changes) await hintBranch(tx, ctx, { project: of, branch: name, mayBeNew });
  if (url !== row.url) {
    await audit(tx, ctx, {
      organizationId: of.organizationId,
      projectId: of.id,
      action: "source.move",
      subject: of.name,
      detail: { from: row.url, to: url },
    });
    // The same repository: its builds can be built again.
    await tx
      .update(build)
      .set({ builtFrom: { kind: "git", url } })
      .where(and(eq(build.projectId, of.id), sql`${build.builtFrom} ->> 'url' = ${row.url}`));
  }
  const now = ctx.clock.now();
  const changedAt = found.changes.length > 0 ? now : (row.changedAt ?? row.createdAt);
  const [after = row] = await tx
    .update(gitSource)
    .set({
      url,
      heads: found.heads,
      checkedAt: now,
      changedAt,
      nextCheckAt: url === null ? nextLookAt(now) : nextCheckAt(now, changedAt),
      problem: refs.branches.has(live) ? null : missingBranch(row, live, now),
    })
    .where(eq(gitSource.projectId, row.projectId))
    .returning();
  return { row: after, project: of };
}

function missingBranch(row: GitSourceRow, branch: string, now: Date) {
  const code = "branch_gone";
  const earlier = problemOf(row);
  const place = row.url === null ? "" : ` at ${hostOfUrl(row.url)}`;
  const message = `The repository${place} has no branch ${branch} any more. What is live stays. Push the branch again, or choose another one in the server's settings.`;
  const since = earlier?.code === code ? earlier.since : now.toISOString();
  return { code, message, since, tries: 1 };
}
