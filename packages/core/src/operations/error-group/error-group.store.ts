import type { Database } from "@towpath/db";
import { errorGroup, errorGroupHour } from "@towpath/db/schema";
import { and, eq, gte, inArray } from "drizzle-orm";
import { notFound } from "../../errors/index.ts";
import { isId } from "../../input/index.ts";

export type GroupRow = typeof errorGroup.$inferSelect;

/** @throws TowpathError `not_found` for one that the project doesn't have */
export async function requireGroup(db: Database, projectId: string, id: string): Promise<GroupRow> {
  if (!isId(id)) throw notFound("error");
  const [found] = await db
    .select()
    .from(errorGroup)
    .where(and(eq(errorGroup.projectId, projectId), eq(errorGroup.id, id)));
  if (!found) throw notFound("error");
  return found;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Failures of groups in each of the last `count` periods of `periodMs`, oldest first; the last one is the current. */
export async function readCourses(
  db: Database,
  groupIds: readonly string[],
  { periodMs, count, now }: { readonly periodMs: number; readonly count: number; readonly now: Date },
): Promise<(groupId: string) => readonly number[]> {
  const first = Math.floor(now.getTime() / periodMs) - count + 1;
  const rows =
    groupIds.length === 0
      ? []
      : await db
          .select()
          .from(errorGroupHour)
          .where(
            and(inArray(errorGroupHour.groupId, [...groupIds]), gte(errorGroupHour.time, new Date(first * periodMs))),
          );
  const courses = new Map(groupIds.map((id) => [id, Array<number>(count).fill(0)]));
  for (const { groupId, time, count: failures } of rows) {
    const at = Math.floor(time.getTime() / periodMs) - first;
    const course = courses.get(groupId);
    // A row's clock may be a little ahead.
    if (course?.[at] !== undefined) course[at] += failures;
  }
  return (groupId) => courses.get(groupId) ?? [];
}
