import type { Database } from "@towpath/db";
import { instance } from "@towpath/db/schema";
import { and, eq, inArray } from "drizzle-orm";
import { expectedBefore, type InstanceState } from "./instance.state.ts";

export type NewInstance = {
  readonly id: string;
  readonly deploymentId: string;
  readonly startedAt: Date;
  readonly restarts: number;
};

export type InstanceChange = {
  readonly state: InstanceState;
  readonly readyAt?: Date;
  readonly endedAt?: Date;
  readonly endReason?: string;
  readonly exitCode?: number | null;
};

/** Where instances are recorded for people to see. The runner's own memory stays the truth of what runs. */
export type InstanceStore = {
  insert(row: NewInstance): Promise<void>;
  change(id: string, change: InstanceChange): Promise<void>;
  /** Ends rows of an earlier runner: what it ran ended with it. */
  endLost(): Promise<number>;
  /** Whether an error of the others is the database's last word on that row, so that trying again is no use. */
  isRefusal(error: unknown): boolean;
};

/** SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation, such as a deployment that is gone). */
const refusalState = /^2[23]/;

function sqlState(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause)
    if ("code" in each && typeof each.code === "string") return each.code;
  return "";
}

export function instanceStore(db: Database): InstanceStore {
  return {
    async insert(row) {
      await db
        .insert(instance)
        .values({ ...row, state: "starting" })
        .onConflictDoNothing();
    },
    async change(id, change) {
      await db
        .update(instance)
        .set(change)
        .where(and(eq(instance.id, id), inArray(instance.state, expectedBefore(change.state))));
    },
    async endLost() {
      const rows = await db
        .update(instance)
        .set({ state: "stopped", endedAt: new Date(), endReason: "The runner ended." })
        .where(inArray(instance.state, ["starting", "ready", "frozen", "stopping"]))
        .returning({ id: instance.id });
      return rows.length;
    },
    isRefusal: (error) => refusalState.test(sqlState(error)),
  };
}
