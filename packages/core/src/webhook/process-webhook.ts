import type { Transaction } from "@towpath/db";
import { branch, build, githubInstallation, project, webhookDelivery } from "@towpath/db/schema";
import { and, asc, desc, eq, isNull, ne } from "drizzle-orm";
import { audit } from "../audit/index.ts";
import { authorizePlatform } from "../authorize/index.ts";
import { enqueueBuild, ensureBranch, insertBuild } from "../build/queue-build.ts";
import type { Context } from "../context/index.ts";
import { endBranch } from "../deployment/end-branch.ts";
import type { Commit } from "../project/project.schema.ts";
import type { WebhookChange } from "./webhook.schema.ts";

type Project = typeof project.$inferSelect;
type BranchChanged = Extract<WebhookChange, { kind: "branch-changed" }>;

/** Asks GitHub for the newest commit of a branch; null when the branch is gone. Throws when it cannot be known. */
export type ReadHead = (project: Project, branchName: string) => Promise<Commit | null>;

export type ProcessWebhookInput = {
  readonly deliveryId: string;
  readonly change: WebhookChange;
  readonly readHead: ReadHead;
};

/**
 * Acts on a delivery: for every project of the repository a push or an opened pull request makes a build of what the
 * branch's head is *now*, a deleted branch or a closed pull request ends the preview (BLD-7). Deliveries come late,
 * twice and out of order, so the payload only says that something changed; the head is read under the branch's lock,
 * which makes the order of builds that of the branch (BLD-11), and a head that has its build already makes no
 * second one (BLD-12).
 */
export async function processWebhook(call: {
  ctx: Context;
  input: ProcessWebhookInput;
}): Promise<{ readonly builds: readonly string[]; readonly ended: number }> {
  const { ctx, input } = call;
  authorizePlatform(ctx);
  const builds: string[] = [];
  let ended = 0;
  const { change } = input;
  if (change.kind === "installation-removed") await removeInstallation(ctx, change.installationId);
  else if (change.kind !== "ignored") {
    for (const found of await projectsOf(ctx, change.repositoryId)) {
      await ctx.db.transaction(async (tx) => {
        if (change.kind === "branch-changed") {
          const buildId = await buildHead(tx, ctx, found, change, input.readHead);
          if (buildId) builds.push(buildId);
        } else if (await endPreview(tx, ctx, found, change)) ended++;
      });
    }
  }
  await ctx.db
    .update(webhookDelivery)
    .set({ processedAt: ctx.clock.now() })
    .where(and(eq(webhookDelivery.id, input.deliveryId), isNull(webhookDelivery.processedAt)));
  return { builds, ended };
}

function projectsOf(ctx: Context, repositoryId: number): Promise<Project[]> {
  return ctx.db.select().from(project).where(eq(project.repositoryId, repositoryId)).orderBy(asc(project.createdAt));
}

async function buildHead(
  tx: Transaction,
  ctx: Context,
  found: Project,
  change: BranchChanged,
  readHead: ReadHead,
): Promise<string | null> {
  await rememberName(tx, found, change.repositoryFullName);
  const isDefault = change.branch === found.defaultBranch;
  const locked = await ensureBranch(tx, ctx, { projectId: found.id, name: change.branch, isDefault });
  if (change.pullRequest) {
    await tx
      .update(branch)
      .set({ pullRequestNumber: change.pullRequest.number, pullRequestUrl: change.pullRequest.url })
      .where(eq(branch.id, locked.id));
  }
  const head = await readHead(found, change.branch);
  if (!head) return null;
  // A redeploy builds an older commit on purpose and says nothing about where the branch stands.
  const [newest] = await tx
    .select({ commitSha: build.commitSha })
    .from(build)
    .where(and(eq(build.branchId, locked.id), ne(build.trigger, "redeploy")))
    .orderBy(desc(build.sequence))
    .limit(1);
  if (newest?.commitSha === head.sha && !locked.endedAt) return null;
  const row = await insertBuild(tx, ctx, { project: found, branchId: locked.id, commit: head, trigger: "push" });
  await enqueueBuild(tx, ctx, row.id);
  await audit(tx, ctx, {
    organizationId: found.organizationId,
    projectId: found.id,
    action: "build.start",
    subject: row.id,
    detail: { branch: change.branch, commit: head.sha, trigger: "push" },
  });
  return row.id;
}

/** A repository can be renamed; its id stays. */
async function rememberName(tx: Transaction, found: Project, fullName: string): Promise<void> {
  if (found.repositoryFullName === fullName) return;
  await tx.update(project).set({ repositoryFullName: fullName }).where(eq(project.id, found.id));
}

function endPreview(
  tx: Transaction,
  ctx: Context,
  found: Project,
  change: Extract<WebhookChange, { kind: "branch-deleted" | "pull-request-closed" }>,
): Promise<boolean> {
  const reason = change.kind === "branch-deleted" ? "branch deleted" : "pull request closed";
  return endBranch(tx, ctx, { project: found, branchName: change.branch, reason });
}

/** The account's owner removed the App: nothing can be fetched through it any more. Servers that are live stay. */
async function removeInstallation(ctx: Context, installationId: number): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const removed = await tx
      .delete(githubInstallation)
      .where(eq(githubInstallation.installationId, installationId))
      .returning();
    for (const row of removed) {
      await audit(tx, ctx, {
        organizationId: row.organizationId,
        action: "installation.remove",
        subject: String(installationId),
        detail: { accountLogin: row.accountLogin },
      });
    }
  });
}
