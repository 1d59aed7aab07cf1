import type { Transaction } from "@towpath/db";
import { githubCheck, githubInstallation, project } from "@towpath/db/schema";
import { and, asc, eq, gte, isNotNull, isNull, lt, lte, ne, or, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { asTowpathError, notFound, TowpathError } from "../../errors/index.ts";
import { addressOf, type HeadsAtHost } from "../../ports/index.ts";
import { numbersOf } from "../github-connection/numbers.schema.ts";
import {
  changesOf,
  claimedUntil,
  type GitHubCheckView,
  headsOf,
  nextCheckAt,
  nextProblem,
  nextTryAt,
  problemOf,
  problemView,
} from "../source/internal.ts";
import { hintBranch } from "../webhook/internal.ts";
import { findCheck, type GitHubCheckRow, hasMissed } from "./github-check.store.ts";

type ProjectRow = typeof project.$inferSelect;

/**
 * Asks GitHub's repositories that are due which branches have changed, for the worker (GH-6): soon where webhooks don't
 * arrive, and every few minutes otherwise. A head that differs becomes the same job as a webhook's. Returns how many were
 * asked.
 */
export async function checkDueGitHubRepositories({
  ctx,
  input,
}: Call<{ readonly limit: number }, "repositories">): Promise<number> {
  authorizePlatform(ctx);
  const now = ctx.clock.now();
  const due = await ctx.db
    .select({ project })
    .from(project)
    .innerJoin(
      githubInstallation,
      and(
        eq(githubInstallation.organizationId, project.organizationId),
        eq(githubInstallation.installationId, project.installationId),
        isNull(githubInstallation.suspendedAt),
      ),
    )
    .leftJoin(githubCheck, eq(githubCheck.projectId, project.id))
    .where(
      and(
        isNotNull(project.repositoryId),
        isNotNull(project.repositoryFullName),
        isNull(project.packageName),
        or(
          isNull(githubCheck.projectId),
          lte(githubCheck.nextCheckAt, now),
          ne(githubCheck.repositoryId, project.repositoryId),
        ),
      ),
    )
    .orderBy(sql`${githubCheck.nextCheckAt} NULLS FIRST`, asc(project.id))
    .limit(input.limit);
  const claimed = await Promise.all(
    due.map(async ({ project: of }) => ({ of, row: await claim(ctx, of, { onlyDue: true }) })),
  );
  await Promise.all(claimed.map(({ of, row }) => row && check(ctx, of, row)));
  return due.length;
}

/**
 * The same for one project, at once.
 *
 * @throws TowpathError `not_found` for a project whose repository no installation can read
 */
export async function checkGitHubRepository(ctx: Context<"repositories">, of: ProjectRow): Promise<void> {
  const row = await claim(ctx, of, { onlyDue: false });
  if (!row) throw notFound("GitHub repository");
  await check(ctx, of, row);
}

/**
 * A host has reported that it couldn't deliver webhooks: repositories of that connection are asked soon, until one arrives
 * again.
 */
export async function recordMissedWebhooks({ ctx, input }: Call<{ readonly connection: number }>): Promise<void> {
  authorizePlatform(ctx);
  const now = ctx.clock.now();
  const { from, below } = numbersOf(input.connection);
  await ctx.db
    .update(githubCheck)
    .set({ missedAt: now, nextCheckAt: now })
    .where(and(gte(githubCheck.repositoryId, from), lt(githubCheck.repositoryId, below)));
}

/** How pushes to a project's repository become known. */
export async function gitHubCheckView(
  ctx: Context<"repositories">,
  { id, installationId }: ProjectRow,
): Promise<GitHubCheckView> {
  const row = await findCheck(ctx.db, id);
  const arrive = installationId === null || (await ctx.repositories.mayArrive(installationId));
  return {
    checkedAt: row?.checkedAt?.toISOString() ?? null,
    webhookAt: row?.webhookAt?.toISOString() ?? null,
    withoutWebhooks: !arrive ? "unreachable" : row && hasMissed(row) ? "missed" : null,
    problem: row && problemView(row),
  };
}

/**
 * Keeps other workers from asking meanwhile. Null when one does, or the project has no such source. What is known of
 * another repository is forgotten.
 */
async function claim(
  ctx: Context,
  { id: projectId, repositoryId, installationId, kind, packageName }: ProjectRow,
  { onlyDue }: { readonly onlyDue: boolean },
): Promise<GitHubCheckRow | null> {
  if (repositoryId === null || installationId === null || kind !== "hosted" || packageName !== null) return null;
  const now = ctx.clock.now();
  const next = claimedUntil(now);
  const isOther = ne(githubCheck.repositoryId, repositoryId);
  const forgotten = { etag: null, heads: null, checkedAt: null, changedAt: null, problem: null };
  await ctx.db
    .update(githubCheck)
    .set({ ...forgotten, repositoryId, webhookAt: null, missedAt: null, nextCheckAt: now })
    .where(and(eq(githubCheck.projectId, projectId), isOther));
  const [row] = await ctx.db
    .insert(githubCheck)
    .values({ projectId, repositoryId, nextCheckAt: next })
    .onConflictDoUpdate({
      target: githubCheck.projectId,
      set: { nextCheckAt: next },
      ...(onlyDue && { setWhere: lte(githubCheck.nextCheckAt, now) }),
    })
    .returning();
  return row ?? null;
}

/** A check that fails ends nothing: its problem is shown, and what is live stays. */
async function check(ctx: Context<"repositories">, of: ProjectRow, row: GitHubCheckRow) {
  if (of.installationId === null || of.repositoryFullName === null) return;
  const host = ctx.repositories;
  let answer: HeadsAtHost | null;
  try {
    answer = await host.heads(addressOf(of.installationId, of.repositoryFullName), row.etag);
  } catch (error) {
    return recordFailure(ctx, of, row, error);
  }
  const isReached = await host.mayArrive(of.installationId);
  await ctx.db.transaction((tx) => apply(tx, ctx, of.id, { before: row, answer, isReached }));
}

type Checked = {
  readonly before: GitHubCheckRow;
  readonly answer: HeadsAtHost | null;
  /** Nothing speaks against webhooks. */
  readonly isReached: boolean;
};

/** Checks of a repository whose webhooks arrive are as rare as those of one that is quiet. */
const longAgo = new Date(0);

async function apply(tx: Transaction, ctx: Context, projectId: string, { before, answer, isReached }: Checked) {
  // Lock order everywhere: project first.
  const [of] = await tx.select().from(project).where(eq(project.id, projectId)).for("no key update");
  const [row] = await tx.select().from(githubCheck).where(eq(githubCheck.projectId, projectId)).for("update");
  if (!of || row?.repositoryId !== before.repositoryId || of.repositoryId !== row.repositoryId) return;
  const { defaultBranch: live } = of;
  const known = headsOf(row);
  const found =
    answer &&
    changesOf({
      before: known,
      heads: answer.heads,
      live,
      previews: true,
      isLiveDue: known === null || known.get(live) !== answer.heads.get(live),
    });
  for (const { name, mayBeNew } of found?.changes ?? [])
    await hintBranch(tx, ctx, { project: of, branch: name, mayBeNew });
  const now = ctx.clock.now();
  const isChanged = (found?.changes.length ?? 0) > 0;
  const changedAt = isChanged ? now : (row.changedAt ?? now);
  // The first answer has no earlier state to compare with, so no webhook can have been missed.
  const isMissed = isChanged && before.heads !== null && !cameSince(row.webhookAt, before.checkedAt);
  const missedAt = isMissed ? now : row.missedAt;
  // Until the first webhook, nothing says that they arrive.
  const isFollowedSoon = !isReached || row.webhookAt === null || hasMissed({ missedAt, webhookAt: row.webhookAt });
  await tx
    .update(githubCheck)
    .set({
      ...(found && { heads: found.heads, etag: answer?.etag ?? null }),
      checkedAt: now,
      changedAt,
      missedAt,
      problem: null,
      nextCheckAt: nextCheckAt(now, isFollowedSoon ? changedAt : longAgo),
    })
    .where(eq(githubCheck.projectId, projectId));
}

const cameSince = (webhookAt: Date | null, since: Date | null) =>
  webhookAt !== null && (since === null || webhookAt > since);

const hintDefault = (tx: Transaction, ctx: Context, of: ProjectRow) =>
  hintBranch(tx, ctx, { project: of, branch: of.defaultBranch, mayBeNew: false });

async function recordFailure(ctx: Context, of: ProjectRow, row: GitHubCheckRow, error: unknown): Promise<void> {
  const now = ctx.clock.now();
  const { code, message, retryAfterSeconds = 0 } = asTowpathError(error);
  const problem = nextProblem(problemOf(row), { code, message }, now);
  const limitEnds = now.getTime() + retryAfterSeconds * 1000;
  // Renamed or moved, perhaps: the branch's job finds the repository by its number.
  if (code === "not_found" && problem.tries === 1) await ctx.db.transaction((tx) => hintDefault(tx, ctx, of));
  await ctx.db
    .update(githubCheck)
    .set({
      problem,
      checkedAt: now,
      nextCheckAt: new Date(Math.max(nextTryAt(now, problem.tries).getTime(), limitEnds)),
    })
    .where(and(eq(githubCheck.projectId, of.id), eq(githubCheck.repositoryId, row.repositoryId)));
  if (!(error instanceof TowpathError)) throw error;
}
