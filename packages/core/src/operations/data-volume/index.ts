import type { Database } from "@towpath/db";
import { dataVolume, project } from "@towpath/db/schema";
import { and, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import { z } from "zod";

/** How long `/data` is kept after it was switched off (BLD-19). */
const dataKeptDays = 7;

export const dataUsageSchema = z.object({
  usedBytes: z.number(),
  /** What fits into it altogether. */
  capacityBytes: z.number(),
  measuredAt: z.iso.datetime(),
});
export type DataUsage = z.infer<typeof dataUsageSchema>;

type Report = {
  readonly host: string;
  readonly volumes: readonly { readonly id: string; readonly usedBytes: number; readonly capacityBytes: number }[];
  readonly at: Date;
};

/** Stores a runner's report of its projects' `/data`. Called by the runner itself, so there is no actor to authorize. */
export async function recordDataUsage(db: Database, { host, volumes, at }: Report): Promise<void> {
  if (volumes.length === 0) return;
  // A project may have been deleted a moment ago.
  const rows = await db
    .select({ id: project.id })
    .from(project)
    .where(
      inArray(
        project.id,
        volumes.map(({ id }) => id),
      ),
    );
  const existing = new Set(rows.map(({ id }) => id));
  const values = volumes
    .filter(({ id }) => existing.has(id))
    .map(({ id, usedBytes, capacityBytes }) => ({ projectId: id, host, usedBytes, capacityBytes, measuredAt: at }));
  if (values.length === 0) return;
  const excluded = (column: string) => sql.raw(`excluded.${column}`);
  await db
    .insert(dataVolume)
    .values(values)
    .onConflictDoUpdate({
      target: dataVolume.projectId,
      set: {
        host: excluded("host"),
        usedBytes: excluded("used_bytes"),
        capacityBytes: excluded("capacity_bytes"),
        measuredAt: excluded("measured_at"),
      },
    });
}

/** Which of these projects still keep `/data`: those where it is on, or was switched off less than a week ago. */
export async function projectsThatKeepData(
  db: Database,
  ids: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const since = new Date(now.getTime() - dataKeptDays * 86_400_000);
  const rows = await db
    .select({ id: project.id })
    .from(project)
    .where(
      and(
        inArray(project.id, [...ids]),
        // Neither is set when somebody changed the row by hand: then nothing is deleted.
        or(project.keepsData, gt(project.dataOffAt, since), isNull(project.dataOffAt)),
      ),
    );
  return new Set(rows.map(({ id }) => id));
}

/** The data of these projects has been deleted. */
export async function forgetDataUsage(db: Database, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.delete(dataVolume).where(inArray(dataVolume.projectId, [...ids]));
}

/** What the host last reported of a project's `/data`; null before its first server ran, and after it was deleted. */
export async function findDataUsage(db: Database, projectId: string): Promise<DataUsage | null> {
  const [row] = await db.select().from(dataVolume).where(eq(dataVolume.projectId, projectId));
  if (row === undefined) return null;
  const { usedBytes, capacityBytes, measuredAt } = row;
  return { usedBytes, capacityBytes, measuredAt: measuredAt.toISOString() };
}
