import { findDataUsage } from "@towpath/core/operations/data-volume";
import { project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { readDeployment } from "../deployments/deployment.store.ts";
import { keptDataOf } from "../deployments/server-of-deployment.ts";
import { seedDeployment } from "../testing/seed-deployment.ts";
import { dataRound } from "./data-round.ts";

const database = openTestDatabase();

const day = 86_400_000;

/** A host that has these volumes. */
function hostOf(ids: Set<string>) {
  const data = {
    problem: () => null,
    usage: async () => [...ids].map((id) => ({ id, usedBytes: 5, capacityBytes: 10 })),
    async remove(kept: (ids: readonly string[]) => Promise<ReadonlySet<string>>) {
      const keep = await kept([...ids]);
      const removed = [...ids].filter((id) => !keep.has(id));
      for (const id of removed) ids.delete(id);
      return removed;
    },
  };
  return { name: "host", data };
}

test("BLD-19 LOG-6 what servers keep is reported, and deleted with its project or a week after it was switched off", async () => {
  const [on, off, deleted] = await Promise.all([1, 2, 3].map(() => seedDeployment(database.db)));
  if (!on || !off || !deleted) throw new Error("not seeded");
  const now = new Date();
  const set = (projectId: string, change: { keepsData: boolean; dataOffAt: Date | null }) =>
    database.db.update(project).set(change).where(eq(project.id, projectId));
  await set(on.projectId, { keepsData: true, dataOffAt: null });
  await set(off.projectId, { keepsData: false, dataOffAt: new Date(now.getTime() - 6 * day) });
  const ids = new Set([on.projectId, off.projectId, deleted.projectId]);
  const host = hostOf(ids);
  await database.pool.query("DELETE FROM organization WHERE id = $1", [deleted.organizationId]);
  await dataRound(database.db, host, now);
  expect(ids).toEqual(new Set([on.projectId, off.projectId]));
  const usage = { usedBytes: 5, capacityBytes: 10, measuredAt: now.toISOString() };
  expect(await findDataUsage(database.db, on.projectId)).toEqual(usage);
  expect(await findDataUsage(database.db, off.projectId)).toEqual(usage);
  await dataRound(database.db, host, new Date(now.getTime() + 2 * day));
  expect(ids).toEqual(new Set([on.projectId]));
  expect(await findDataUsage(database.db, off.projectId)).toBeNull();
});

test("BLD-19 production's server of a project that keeps data has it; a preview's never", async () => {
  const [production, preview] = await Promise.all([
    seedDeployment(database.db),
    seedDeployment(database.db, { environment: "preview" }),
  ]);
  const kept = async (deploymentId: string) => {
    const found = await readDeployment(database, deploymentId);
    return found && keptDataOf(found).dataVolume;
  };
  expect(await kept(production.deploymentId)).toBeUndefined();
  await database.db.update(project).set({ keepsData: true });
  expect(await kept(production.deploymentId)).toBe(production.projectId);
  expect(await kept(preview.deploymentId)).toBeUndefined();
});
