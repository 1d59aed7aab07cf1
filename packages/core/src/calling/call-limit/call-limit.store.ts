import type { Database, Transaction } from "@towpath/db";
import { callLimit } from "@towpath/db/schema";
import type { Rate } from "@towpath/limits";
import { eq } from "drizzle-orm";

/** A project's own limits. Null: none. */
export type OwnLimits = {
  readonly caller: Rate | null;
  readonly server: Rate | null;
  /** 0: nothing is stored. */
  readonly revision: number;
};

export async function readLimits(db: Database | Transaction, projectId: string): Promise<OwnLimits> {
  const [row] = await db.select().from(callLimit).where(eq(callLimit.projectId, projectId));
  if (!row) return { caller: null, server: null, revision: 0 };
  return {
    caller: rateOf(row.callerPerMinute, row.callerBurst),
    server: rateOf(row.serverPerMinute, row.serverBurst),
    revision: row.revision,
  };
}

const rateOf = (perMinute: number | null, burst: number | null): Rate | null =>
  perMinute === null || burst === null ? null : { perMinute, burst };

export async function storeLimits(
  tx: Transaction,
  { projectId, limits, now }: { projectId: string; limits: OwnLimits; now: Date },
): Promise<void> {
  const values = {
    callerPerMinute: limits.caller?.perMinute ?? null,
    callerBurst: limits.caller?.burst ?? null,
    serverPerMinute: limits.server?.perMinute ?? null,
    serverBurst: limits.server?.burst ?? null,
    revision: limits.revision,
    updatedAt: now,
  };
  await tx
    .insert(callLimit)
    .values({ projectId, ...values })
    .onConflictDoUpdate({ target: callLimit.projectId, set: values });
}
