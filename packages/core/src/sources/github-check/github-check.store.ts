import type { Database, Transaction } from "@towpath/db";
import { githubCheck } from "@towpath/db/schema";
import { and, eq, gt, isNull } from "drizzle-orm";
import type { Context } from "../../context/index.ts";
import { headsOf } from "../source/internal.ts";

type Queryable = Database | Transaction;
export type GitHubCheckRow = typeof githubCheck.$inferSelect;

export async function findCheck(db: Queryable, projectId: string): Promise<GitHubCheckRow | null> {
  const [row] = await db.select().from(githubCheck).where(eq(githubCheck.projectId, projectId));
  return row ?? null;
}

/** Heads of a project's repository as last seen, with its id; null also for another one, which it may have had before. */
export async function gitHubHeads(
  db: Queryable,
  of: { readonly projectId: string; readonly repositoryId: number },
): Promise<ReadonlyMap<string, string> | null> {
  const row = await findCheck(db, of.projectId);
  return row?.repositoryId === of.repositoryId ? headsOf(row) : null;
}

/** Whether polling found a push without a webhook, and no webhook has come since. */
export const hasMissed = ({ missedAt, webhookAt }: Pick<GitHubCheckRow, "missedAt" | "webhookAt">): boolean =>
  missedAt !== null && (webhookAt === null || webhookAt < missedAt);

/** How soon a repository is asked again while somebody looks at its server. */
const lookedAtMs = 15_000;

/** Somebody looks at a project: its repository is asked soon. Pages call it often, so it writes only where that helps. */
export async function recordLookAtGitHub(ctx: Context, projectId: string): Promise<void> {
  const soon = new Date(ctx.clock.now().getTime() + lookedAtMs);
  await ctx.db
    .update(githubCheck)
    .set({ nextCheckAt: soon })
    .where(and(eq(githubCheck.projectId, projectId), gt(githubCheck.nextCheckAt, soon), isNull(githubCheck.problem)));
}

/** A webhook about a repository has come. */
export async function recordWebhook(ctx: Context, repositoryId: number): Promise<void> {
  const webhookAt = ctx.clock.now();
  await ctx.db.update(githubCheck).set({ webhookAt }).where(eq(githubCheck.repositoryId, repositoryId));
}
