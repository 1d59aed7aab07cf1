import { newId } from "@towpath/core/ids";
import { instance } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seedDeployment } from "../testing/seed-deployment.ts";
import { instanceStore } from "./instance.store.ts";
import { createInstanceRecord } from "./instance-record.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const row = (deploymentId: string) => ({ id: newId(), deploymentId, startedAt: new Date(), restarts: 0 });

test("RUN-6 a row that the database will never take does not hold up those of other servers", async () => {
  const { deploymentId } = await seedDeployment(database.db);
  const problems: unknown[] = [];
  const record = createInstanceRecord(instanceStore(database.db), (problem) => problems.push(problem));
  const other = row(deploymentId);
  // Its deployment was deleted while it started.
  record.started(row(newId()));
  record.started(other);
  // What a server says may hold what PostgreSQL cannot store.
  record.changed(other.id, { state: "crashed", endReason: "it said \0" });
  record.changed(other.id, { state: "ready", readyAt: new Date() });
  await record.close(3000);
  const [stored] = await database.db.select().from(instance).where(eq(instance.id, other.id));
  expect(stored?.state).toBe("ready");
  expect(problems).toHaveLength(2);
});
