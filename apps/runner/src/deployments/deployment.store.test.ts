import { instance } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seedDeployment } from "../testing/seed-deployment.ts";
import { recentlyRun } from "./deployment.store.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const hour = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms);

async function ran(...runs: (Date | null)[]): Promise<string> {
  const { deploymentId } = await seedDeployment(database.db, {});
  for (const endedAt of runs) {
    const state = endedAt ? "stopped" : "ready";
    await database.db
      .insert(instance)
      .values({ id: crypto.randomUUID(), deploymentId, state, startedAt: ago(9 * hour), endedAt });
  }
  return deploymentId;
}

test("RUN-3 interpreters wait for servers that run, or ended a short while ago, however long ago they started", async () => {
  const [lately, before] = [ago(1000), ago(hour / 2)];
  await ran(ago(2 * hour));
  const second = await ran(before);
  const running = await ran(ago(3 * hour), null);
  const first = await ran(ago(2 * hour), lately, before);
  const found = await recentlyRun(database.db, { since: ago(hour), limit: 10 });
  expect(found.map(({ deploymentId }) => deploymentId)).toEqual([running, first, second]);
  expect(found.slice(1).map(({ ranAt }) => ranAt)).toEqual([lately, before]);
  expect(Date.now() - (found[0]?.ranAt.getTime() ?? 0)).toBeLessThan(60_000);
  expect(await recentlyRun(database.db, { since: ago(hour), limit: 1 })).toHaveLength(1);
});
