import { alertEvent } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { seedDeployment } from "../testing/seed-deployment.ts";
import { createNoPlaceAlert } from "./no-place-alert.ts";
import { Places } from "./places.ts";

const database = openTestDatabase();
const seat = (server: string) => ({
  server,
  callers: null,
  organizationId: "o",
  look: () => ({ phase: "ready", isLeased: true, lastUsedAt: 0, memoryBytes: 0 }) as const,
  evict: async () => {},
});

test("CAP-6 a server that is refused a place is an alert with the reason, however often its callers retry", async () => {
  const { projectId, deploymentId } = await seedDeployment(database.db);
  const problems: unknown[] = [];
  const alert = createNoPlaceAlert({
    db: database.db,
    projectOf: async () => projectId,
    onProblem: (error) => problems.push(error),
  });
  const budget = { maxInstances: 1, maxStarting: 1, memoryBytes: 1e9, startReserveBytes: 1, maxShare: 1 };
  const places = new Places(budget, 20, alert);
  await places.take(seat("other"));
  for (let call = 0; call < 3; call++)
    await expect(places.take(seat(deploymentId))).rejects.toMatchObject({ code: "capacity" });
  const events = () => database.db.select().from(alertEvent).where(eq(alertEvent.projectId, projectId));
  await expect.poll(events).toMatchObject([{ kind: "server.no-place" }]);
  expect((await events())[0]?.detail).toMatchObject({ reason: expect.stringContaining("TOWPATH_MAX_INSTANCES") });
  expect(problems).toEqual([]);
});

test("CAP-6 one that got its place is none; an alert that can't be stored is reported and raised again", async () => {
  const { projectId, deploymentId } = await seedDeployment(database.db);
  const problems: unknown[] = [];
  let isDown = true;
  const alert = createNoPlaceAlert({
    db: database.db,
    projectOf: async () => {
      if (isDown) throw new Error("the database is unavailable");
      return projectId;
    },
    onProblem: (error) => problems.push(error),
  });
  const places = new Places(
    { maxInstances: 1, maxStarting: 1, memoryBytes: 1e9, startReserveBytes: 1, maxShare: 1 },
    1000,
    alert,
  );
  await places.take(seat(deploymentId));
  alert(deploymentId, "Full.");
  await expect.poll(() => problems.length).toBe(1);
  isDown = false;
  alert(deploymentId, "Full.");
  const events = () => database.db.select().from(alertEvent).where(eq(alertEvent.projectId, projectId));
  await expect.poll(events).toHaveLength(1);
});
