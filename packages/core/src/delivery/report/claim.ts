import type { Database } from "@towpath/db";
import { branchReport, pullRequestComment } from "@towpath/db/schema";
import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import { TowpathError } from "../../errors/index.ts";

/**
 * One worker at a time reports a branch, and a pull request, to GitHub, so that a slow report can't overwrite a
 * newer one. The claim outlasts the requests of one report, with their time-outs; the worker renews it before each
 * request, and stops if it has lost it.
 */
export type Claim = {
  /** @throws TowpathError `conflict` when another worker has it */
  renew(): Promise<void>;
  release(): Promise<void>;
};

const forTwoMinutes = sql`clock_timestamp() + interval '2 minutes'`;

/** Null while another worker has it. */
export async function claimBranch(db: Database, branchId: string): Promise<Claim | null> {
  const of = eq(branchReport.branchId, branchId);
  const until = branchReport.claimedUntil;
  const [row] = await db
    .insert(branchReport)
    .values({ branchId, claimedUntil: forTwoMinutes })
    .onConflictDoUpdate({
      target: branchReport.branchId,
      set: { claimedUntil: forTwoMinutes },
      setWhere: or(isNull(until), lt(until, sql`clock_timestamp()`)),
    })
    .returning({ until });
  if (!row) return null;
  return claimOf(row.until, async (held, next) => {
    const set = { claimedUntil: next };
    const rows = await db
      .update(branchReport)
      .set(set)
      .where(and(of, heldUntil(until, held)))
      .returning({ until });
    return rows[0];
  });
}

export type PullRequestKey = {
  readonly organizationId: string;
  readonly repositoryId: number;
  readonly number: number;
};

/** Null while another worker has it. */
export async function claimPullRequest(db: Database, key: PullRequestKey): Promise<Claim | null> {
  const until = pullRequestComment.claimedUntil;
  const [row] = await db
    .insert(pullRequestComment)
    .values({ ...key, claimedUntil: forTwoMinutes })
    .onConflictDoUpdate({
      target: [pullRequestComment.organizationId, pullRequestComment.repositoryId, pullRequestComment.number],
      set: { claimedUntil: forTwoMinutes, updatedAt: sql`now()` },
      setWhere: or(isNull(until), lt(until, sql`clock_timestamp()`)),
    })
    .returning({ until });
  if (!row) return null;
  return claimOf(row.until, async (held, next) => {
    const set = { claimedUntil: next };
    const where = and(ofPullRequest(key), heldUntil(until, held));
    const rows = await db.update(pullRequestComment).set(set).where(where).returning({ until });
    return rows[0];
  });
}

export const ofPullRequest = ({ organizationId, repositoryId, number }: PullRequestKey) =>
  and(
    eq(pullRequestComment.organizationId, organizationId),
    eq(pullRequestComment.repositoryId, repositoryId),
    eq(pullRequestComment.number, number),
  );

const heldUntil = (column: typeof branchReport.claimedUntil | typeof pullRequestComment.claimedUntil, held: Date) =>
  sql`${column} = ${held.toISOString()}::timestamptz`;

/** `swap` replaces the end of the claim if it is still the one that is held. */
function claimOf(
  first: Date | null,
  swap: (held: Date, next: typeof forTwoMinutes | null) => Promise<{ until: Date | null } | undefined>,
): Claim {
  let held = first;
  return {
    async renew() {
      const row = held && (await swap(held, forTwoMinutes));
      if (!row) throw new TowpathError("conflict", "Another worker reports this to GitHub.");
      held = row.until;
    },
    async release() {
      if (held) await swap(held, null);
      held = null;
    },
  };
}
