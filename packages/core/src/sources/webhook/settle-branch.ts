import type { Transaction } from "@towpath/db";
import { branch, build, project, route } from "@towpath/db/schema";
import { and, asc, desc, eq, inArray, notInArray, sql } from "drizzle-orm";
import { audit } from "../../audit/index.ts";
import type { Context } from "../../context/index.ts";
import { type BranchRow, enqueueReport, lockBranch, pullRequestOfForkBranch } from "../../delivery/branch/index.ts";
import { enqueueBuild, insertBuild, supersedeQueued } from "../../delivery/build/internal.ts";
import type { BranchAtSource } from "../../ports/index.ts";
import type { Commit } from "../../projects/project/project.schema.ts";
import { isWatched } from "../../projects/project/watch-paths.schema.ts";
import { findGitSource, type GitSourceRow, sameGitSource } from "../source/internal.ts";
import { followDefaultBranch } from "./follow-default-branch.ts";
import { hintBranch } from "./hint-branch.ts";
import { closeFork, settleFork } from "./settle-fork.ts";

type Project = typeof project.$inferSelect;
type EndReason = "branch deleted" | "pull request closed" | "previews switched off" | "source changed";
type Seen = Extract<BranchAtSource, { kind: "seen" }>;

/** A branch and its project as they were before the request to the host. */
export type SyncTarget = {
  readonly project: Project;
  readonly branch: BranchRow;
  /** The project's Git URL or repository of this instance; null for another source. */
  readonly git: GitSourceRow | null;
};

export type BranchSettled =
  | { readonly outcome: "build"; readonly buildId: string }
  /** `skipped`: the push changes no watched path, so nothing is built. */
  | { readonly outcome: "ended" | "unchanged" | "no-access" | "skipped" | "waiting" }
  /** The project or branch doesn't exist (any more). */
  | { readonly outcome: "unknown" };

/**
 * Applies the host's response about a branch. Null when the response is outdated: since the request, another decision
 * about the branch was made, or the project's record of its repository has changed.
 */
export async function settleBranch(
  tx: Transaction,
  ctx: Context,
  input: SyncTarget & { readonly seen: BranchAtSource },
): Promise<BranchSettled | null> {
  const { seen } = input;
  const target = await lockTarget(tx, input);
  if (!target) return { outcome: "unknown" };
  if (target.branch.observation !== input.branch.observation) return null;
  if (!sameRepository(target.project, input.project) || !sameGitSource(target.git, input.git)) return null;
  await tx
    .update(branch)
    .set({
      observation: sql`${branch.observation} + 1`,
      // Keeps a mark that was set after the request: it has its own job.
      hintedAt: sql`CASE WHEN ${branch.hintedAt} IS DISTINCT FROM ${input.branch.hintedAt} THEN ${branch.hintedAt} END`,
      ...(seen.kind === "seen" && pullRequestOf(seen)),
    })
    .where(eq(branch.id, target.branch.id));
  if (seen.kind === "no-access") return { outcome: "no-access" };
  const pullRequest = pullRequestOf(seen);
  if (pullRequest && pullRequest.pullRequestNumber !== target.branch.pullRequestNumber) {
    await enqueueReport(tx, ctx, target.branch.id);
  }
  const found = await updateRepository(tx, target.project, seen);
  const isNewDefault = seen.defaultBranch !== found.defaultBranch;
  if (isNewDefault && seen.defaultBranch !== target.branch.name) {
    await hintBranch(tx, ctx, { project: found, branch: seen.defaultBranch, mayBeNew: true });
  }
  if (pullRequestOfForkBranch(target.branch.name) !== null)
    return settlePullRequestOfFork(tx, ctx, found, target.branch, seen);
  if (!seen.head) {
    const reason = seen.withoutPreview ? "previews switched off" : "branch deleted";
    return { outcome: await end(tx, ctx, found, target.branch, reason) };
  }
  if (isNewDefault && seen.defaultBranch === target.branch.name) {
    await followDefaultBranch(tx, ctx, { project: found, branch: target.branch });
    const project = { ...found, defaultBranch: target.branch.name };
    return { outcome: "build", buildId: await buildHead(tx, ctx, project, target.branch, seen.head) };
  }
  if (isClosed(seen, seen.head) && !target.branch.isDefault) {
    return { outcome: await end(tx, ctx, found, target.branch, "pull request closed") };
  }
  if ((await hasBuild(tx, target.branch, seen.head)) && !target.branch.endedAt) return { outcome: "unchanged" };
  if (!target.branch.endedAt && changesNoWatchedPath(found, seen)) {
    return { outcome: (await skip(tx, ctx, found, target.branch, seen.head)) ? "skipped" : "unchanged" };
  }
  return { outcome: "build", buildId: await buildHead(tx, ctx, found, target.branch, seen.head) };
}

/** A pull request from a fork is never built without approval (BLD-9). */
async function settlePullRequestOfFork(
  tx: Transaction,
  ctx: Context,
  of: Project,
  own: BranchRow,
  { head, fork }: Seen,
): Promise<BranchSettled> {
  if (head && fork) return { outcome: await settleFork(tx, ctx, { project: of, branch: own, head, fork }) };
  await closeFork(tx, own.id);
  return { outcome: await end(tx, ctx, of, own, "pull request closed") };
}

/** Lock order everywhere: project first, then branches by id. */
async function lockTarget(tx: Transaction, input: SyncTarget): Promise<SyncTarget | undefined> {
  const [found] = await tx.select().from(project).where(eq(project.id, input.project.id)).for("no key update");
  if (!found) return undefined;
  const names = [...new Set([input.branch.name, found.defaultBranch])];
  const rows = await tx
    .select()
    .from(branch)
    .where(and(eq(branch.projectId, found.id), inArray(branch.name, names)))
    .orderBy(asc(branch.id))
    .for("no key update");
  const own = rows.find((row) => row.id === input.branch.id);
  return own && { project: found, branch: own, git: await findGitSource(tx, found.id) };
}

const sameRepository = (now: Project, before: Project) =>
  now.defaultBranch === before.defaultBranch &&
  now.githubBranch === before.githubBranch &&
  now.repositoryId === before.repositoryId &&
  now.repositoryFullName === before.repositoryFullName &&
  now.repositoryPrivate === before.repositoryPrivate &&
  now.installationId === before.installationId;

/** A repository can be renamed, transferred and made private; its id stays. */
async function updateRepository(tx: Transaction, found: Project, seen: Seen): Promise<Project> {
  if (seen.github === null) return found;
  const { installationId, fullName, private: repositoryPrivate } = seen.github;
  const now = { installationId, repositoryFullName: fullName, repositoryPrivate };
  if (sameRepository({ ...found, ...now }, found)) return found;
  await tx.update(project).set(now).where(eq(project.id, found.id));
  return { ...found, ...now };
}

const openOne = (seen: Seen) => seen.pullRequests.find((each) => each.isOpen);

/** The branch's open pull request, else its newest one. */
function pullRequestOf(seen: Seen) {
  const newestFirst = seen.pullRequests.toSorted((one, two) => two.number - one.number);
  const shown = openOne(seen) ?? newestFirst[0];
  return shown && { pullRequestNumber: shown.number, pullRequestUrl: shown.url };
}

/** Whether its pull request was closed, and nothing has been pushed since. */
const isClosed = (seen: Seen, head: Commit) =>
  !openOne(seen) && seen.pullRequests.some((each) => each.headSha === head.sha);

async function end(
  tx: Transaction,
  ctx: Context,
  of: Project,
  ended: BranchRow,
  reason: EndReason,
): Promise<"ended" | "unchanged"> {
  return (await endBranch(tx, ctx, { project: of, branchName: ended.name, reason })) ? "ended" : "unchanged";
}

/** Ignores redeploys and promotions, which are of other commits than the head on purpose. */
async function hasBuild(tx: Transaction, of: BranchRow, head: Commit): Promise<boolean> {
  const [newest] = await tx
    .select({ commitSha: build.commitSha })
    .from(build)
    .where(and(eq(build.branchId, of.id), notInArray(build.trigger, ["redeploy", "promote"])))
    .orderBy(desc(build.sequence))
    .limit(1);
  return newest?.commitSha === head.sha;
}

/** Only where the host could say what has changed: in doubt, it is built. */
const changesNoWatchedPath = ({ watchPaths }: Project, { changedPaths }: Seen): boolean =>
  watchPaths.length > 0 && changedPaths !== null && !changedPaths.some((path) => isWatched(watchPaths, path));

/** Stores on the branch that its head was not built (BLD-15). False when that was stored already. */
async function skip(tx: Transaction, ctx: Context, of: Project, target: BranchRow, commit: Commit): Promise<boolean> {
  if (target.skippedCommitSha === commit.sha) return false;
  // Somebody has started a build of it.
  const ofHead = and(eq(build.branchId, target.id), eq(build.commitSha, commit.sha));
  if ((await tx.$count(build, ofHead)) > 0) return false;
  await tx
    .update(branch)
    .set({ skippedCommitSha: commit.sha, skippedCommitMessage: commit.message, skippedAt: ctx.clock.now() })
    .where(eq(branch.id, target.id));
  await enqueueReport(tx, ctx, target.id);
  await audit(tx, ctx, {
    organizationId: of.organizationId,
    projectId: of.id,
    action: "build.skip",
    subject: target.name,
    detail: { branch: target.name, commit: commit.sha },
  });
  return true;
}

async function buildHead(
  tx: Transaction,
  ctx: Context,
  of: Project,
  target: BranchRow,
  commit: Commit,
): Promise<string> {
  const row = await insertBuild(tx, ctx, { project: of, branchId: target.id, commit, trigger: "push" });
  await enqueueBuild(tx, ctx, row.id);
  await audit(tx, ctx, {
    organizationId: of.organizationId,
    projectId: of.id,
    action: "build.start",
    subject: row.id,
    detail: { branch: target.name, commit: commit.sha, trigger: "push" },
  });
  return row.id;
}

/**
 * Ends a branch's preview: removes its URL, cancels queued builds, and keeps running builds from going live (BLD-7).
 * The default branch never ends: production stays, even if the branch is deleted at its host. False when nothing
 * changed.
 */
export async function endBranch(
  tx: Transaction,
  ctx: Context,
  input: {
    readonly project: typeof project.$inferSelect;
    readonly branchName: string;
    readonly reason: EndReason;
  },
): Promise<boolean> {
  const [found] = await tx
    .select({ id: branch.id })
    .from(branch)
    .where(and(eq(branch.projectId, input.project.id), eq(branch.name, input.branchName)));
  if (!found) return false;
  const locked = await lockBranch(tx, found.id);
  if (locked.isDefault || locked.endedAt) return false;
  await tx.update(branch).set({ endedAt: ctx.clock.now() }).where(eq(branch.id, locked.id));
  await tx.delete(route).where(eq(route.branchId, locked.id));
  await enqueueReport(tx, ctx, locked.id);
  await supersedeQueued(tx, ctx, locked.id, `Canceled: ${input.reason}.`);
  await audit(tx, ctx, {
    organizationId: input.project.organizationId,
    projectId: input.project.id,
    action: "branch.end",
    subject: locked.name,
    detail: { reason: input.reason },
  });
  return true;
}
