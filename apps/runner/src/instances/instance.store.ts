import { newId } from "@towpath/core/ids";
import type { Database } from "@towpath/db";
import { auditLog, instance } from "@towpath/db/schema";
import type { Endpoint } from "@towpath/runner-api";
import type { RunnerIdentity } from "@towpath/runtime";
import { and, eq, inArray, isNull, lt, or } from "drizzle-orm";
import { expectedBefore, type InstanceState } from "./instance.state.ts";

export type NewInstance = {
  readonly id: string;
  readonly deploymentId: string;
  /** The person whom alone it serves; null: all callers. */
  readonly callerId: string | null;
  readonly startedAt: Date;
  readonly restarts: number;
};

export type InstanceChange = {
  readonly state: InstanceState;
  readonly endpoint?: Endpoint;
  readonly readyAt?: Date;
  readonly endedAt?: Date;
  readonly endReason?: string;
  readonly exitCode?: number | null;
};

/** A start of a server with variables: their versions, by name. */
export type DecryptedSecrets = {
  readonly organizationId: string;
  readonly projectId: string;
  readonly deploymentId: string;
  /** The person whose own values these are; null: the owner's. */
  readonly callerId: string | null;
  readonly versions: Readonly<Record<string, number>>;
};

/** An instance that a new start of the runner has claimed. */
type ClaimedInstance = { readonly startedAt: Date; readonly readyAt: Date | null; readonly restarts: number };

/**
 * Records instances for the dashboard and for the next start of the runner; which ones run is known only from the
 * runner's memory. Only the newest start of a row's runner changes the row.
 */
export type InstanceStore = {
  insert(row: NewInstance): Promise<void>;
  change(id: string, change: InstanceChange): Promise<void>;
  measure(id: string, memoryBytes: number): Promise<void>;
  /**
   * Assigns an instance that still runs to this start; it counts as starting until it has been adopted. Inserts the row
   * if the earlier runner was killed before it did. Null if it must be stopped: its row has ended or is another
   * runner's, or its deployment is gone.
   */
  claim(id: string, of: Pick<NewInstance, "deploymentId" | "callerId">): Promise<ClaimedInstance | null>;
  /**
   * Ends unclaimed rows of earlier runner processes: their instances are gone. Resolves to the deployments whose shared
   * servers were in use: neither frozen nor being stopped.
   */
  endLost(): Promise<readonly string[]>;
  /** Audits that the variables of a deployment were decrypted for a start. */
  auditDecryption(secrets: DecryptedSecrets): Promise<void>;
  /** Whether the database rejected the row, so that retrying is useless. */
  isRefusal(error: unknown): boolean;
};

/** SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation, such as a deployment that is gone). */
const refusalState = /^2[23]/;

function sqlState(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause)
    if ("code" in each && typeof each.code === "string") return each.code;
  return "";
}

const isRefusal = (error: unknown) => refusalState.test(sqlState(error));

const alive: readonly InstanceState[] = ["starting", "ready", "frozen", "stopping"];

export function instanceStore(db: Database, identity: RunnerIdentity): InstanceStore {
  const { id: runner, generation } = identity;
  const isMine = and(eq(instance.runner, runner), eq(instance.generation, generation));
  const isEarlier = and(eq(instance.runner, runner), lt(instance.generation, generation));
  return {
    async insert(row) {
      await db
        .insert(instance)
        .values({ ...row, runner, generation, state: "starting" })
        .onConflictDoNothing();
    },
    async change(id, change) {
      await db
        .update(instance)
        .set(change)
        .where(and(eq(instance.id, id), isMine, inArray(instance.state, expectedBefore(change.state))));
    },
    async measure(id, memoryBytes) {
      await db
        .update(instance)
        .set({ memoryBytes: Math.round(memoryBytes) })
        .where(and(eq(instance.id, id), isMine));
    },
    async claim(id, { deploymentId, callerId }) {
      const row = { id, deploymentId, callerId, runner, generation, state: "starting" };
      try {
        const [claimed] = await db
          .insert(instance)
          .values(row)
          .onConflictDoUpdate({
            target: instance.id,
            set: { generation, state: "starting" },
            setWhere: and(isEarlier, inArray(instance.state, ["starting", "ready", "frozen"])),
          })
          .returning();
        return claimed ?? null;
      } catch (error) {
        if (isRefusal(error)) return null;
        throw error;
      }
    },
    async endLost() {
      // Rows of older versions name no runner.
      const isLost = and(or(isEarlier, isNull(instance.runner)), inArray(instance.state, [...alive]));
      const used = await db
        .selectDistinct({ deploymentId: instance.deploymentId })
        .from(instance)
        .where(and(isLost, isNull(instance.callerId), inArray(instance.state, ["starting", "ready"])));
      const end = { state: "stopped", endedAt: new Date(), endReason: "It ended with the runner." };
      await db.update(instance).set(end).where(isLost);
      return used.map(({ deploymentId }) => deploymentId);
    },
    async auditDecryption({ organizationId, projectId, deploymentId, callerId, versions }) {
      await db.insert(auditLog).values({
        id: newId(),
        organizationId,
        projectId,
        actor: "job:runner",
        action: "secret.decrypt",
        subject: deploymentId,
        detail: { reason: "start", runner, versions, ...(callerId && { caller: callerId }) },
      });
    },
    isRefusal,
  };
}
