import type { Transaction } from "@towpath/db";
import { branch, build, project } from "@towpath/db/schema";
import { currentTraceparent } from "@towpath/telemetry/trace";
import { and, eq, inArray, max, sql } from "drizzle-orm";
import { actingUserId } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import type { BuildSource } from "../../projects/project/project.schema.ts";
import { builtFromNow, builtFromOf } from "../../sources/source/internal.ts";
import { enqueueReport, lockBranch } from "../branch/index.ts";
import { expectedBefore } from "./build.state.ts";
import { writeToBuildLog } from "./build.store.ts";
import type { BuildTrigger } from "./build-contract.schema.ts";

export type BuildRow = typeof build.$inferSelect;

export type NewBuild = {
  readonly project: typeof project.$inferSelect;
  readonly branchId: string;
  readonly commit: BuildSource;
  readonly trigger: BuildTrigger;
  /** For a promotion: the build whose layers it takes over, with what it starts. */
  readonly promoted?: Earlier & Pick<BuildRow, "id" | "layers" | "program">;
  /** The build whose result is lost: the same is made of the same source again. */
  readonly lost?: Earlier;
  /** Whether it is released gradually; absent: as the project's setting says. */
  readonly isGradual?: true;
};

type Earlier = Pick<
  BuildRow,
  | "entrypoint"
  | "arguments"
  | "requirements"
  | "rootDirectory"
  | "resolution"
  | "builtFrom"
  | "createdAt"
  | "commitSha"
  | "packageVersion"
>;

/** What an earlier build built, to be built again. */
export const sourceOfBuild = (row: BuildRow): BuildSource => ({
  sha: row.commitSha,
  message: row.commitMessage,
  author: row.commitAuthor,
  packageVersion: row.packageVersion,
});

/** What the audit log keeps of what was built. */
export const auditedVersion = ({ commitSha, packageVersion }: Pick<BuildRow, "commitSha" | "packageVersion">) => ({
  commit: commitSha,
  ...(packageVersion !== null && { version: packageVersion }),
});

/**
 * Inserts a queued build of the project's source, or of what an earlier build was built from, as the newest of its branch,
 * cancels the branch's builds that are still queued, and reopens an ended branch. The caller enqueues the job.
 */
export async function insertBuild(tx: Transaction, ctx: Context, input: NewBuild): Promise<BuildRow> {
  const locked = await lockBranch(tx, input.branchId);
  await tx
    .update(branch)
    .set({
      endedAt: null,
      observation: sql`${branch.observation} + 1`,
      skippedCommitSha: null,
      skippedCommitMessage: null,
      skippedAt: null,
    })
    .where(eq(branch.id, locked.id));
  const [newest] = await tx
    .select({ sequence: max(build.sequence) })
    .from(build)
    .where(eq(build.branchId, input.branchId));
  await supersedeQueued(tx, ctx, input.branchId);
  const now = ctx.clock.now();
  const earlier = input.promoted ?? input.lost;
  const settings = earlier ?? input.project;
  const source = await builtFromNow(tx, input.project);
  const [row] = await tx
    .insert(build)
    .values({
      id: newId(),
      projectId: input.project.id,
      branchId: input.branchId,
      commitSha: input.commit.sha,
      packageVersion: input.commit.packageVersion ?? null,
      builtFrom: earlier ? builtFromOf(earlier, input.project, source) : source,
      commitMessage: input.commit.message,
      commitAuthor: input.commit.author,
      pullRequestNumber: locked.pullRequestNumber,
      pullRequestUrl: locked.pullRequestUrl,
      trigger: input.trigger,
      sequence: (newest?.sequence ?? 0) + 1,
      entrypoint: settings.entrypoint,
      arguments: settings.arguments,
      requirements: settings.requirements,
      rootDirectory: settings.rootDirectory,
      resolution: earlier?.resolution ?? null,
      isGradual: input.isGradual ?? (input.lost ? false : null),
      promotedFromBuildId: input.promoted?.id ?? null,
      layers: input.promoted?.layers ?? null,
      program: input.promoted?.program ?? null,
      createdByUserId: actingUserId(ctx),
      traceparent: currentTraceparent(),
      createdAt: now,
      updatedAt: now,
    })
    .returning();
  if (!row) throw new TowpathError("internal", "The build could not be queued.");
  await enqueueReport(tx, ctx, row.branchId);
  return row;
}

/** Enqueues a turn of the build's organization when the transaction commits, unless one is already queued. */
export async function enqueueBuild(tx: Transaction, ctx: Context, buildId: string): Promise<void> {
  const [of] = await tx
    .select({ organizationId: project.organizationId })
    .from(build)
    .innerJoin(project, eq(project.id, build.projectId))
    .where(eq(build.id, buildId));
  if (of) await enqueueTurn(tx, ctx, of.organizationId);
}

/**
 * Builds wait in the database; the queue contains one turn per organization with waiting builds. So organizations take
 * turns, however many builds one of them has (BLD-13).
 */
export function enqueueTurn(tx: Transaction, ctx: Context, organizationId: string): Promise<void> {
  const key = organizationId;
  return ctx.queue.enqueue("build.run", { organizationId }, { key, group: organizationId, transaction: tx });
}

/** Cancels a branch's queued builds and writes the reason to their logs. */
export async function supersedeQueued(
  tx: Transaction,
  ctx: Context,
  branchId: string,
  reason = "Canceled: replaced by a newer build of this branch.",
): Promise<void> {
  const now = ctx.clock.now();
  const canceled = await tx
    .update(build)
    .set({ status: "canceled", endedAt: now, updatedAt: now })
    .where(
      and(
        eq(build.branchId, branchId),
        eq(build.status, "queued"),
        inArray(build.status, [...expectedBefore("canceled")]),
      ),
    )
    .returning({ id: build.id });
  if (canceled.length > 0) await enqueueReport(tx, ctx, branchId);
  for (const { id } of canceled) {
    await writeToBuildLog(tx, id, now, { phase: "fetch", kind: "warning", text: reason });
  }
}
