import { newId } from "@towpath/core/ids";
import { instance } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { seedDeployment } from "../testing/seed-deployment.ts";
import { instanceStore } from "./instance.store.ts";
import { Instance } from "./instance.ts";
import { createInstanceRecord } from "./instance-record.ts";

const database = openTestDatabase();

const row = (deploymentId: string) => ({
  id: newId(),
  deploymentId,
  callerId: null,
  startedAt: new Date(),
  restarts: 0,
});

test("RUN-6 a row that the database rejects does not delay those of other servers", async () => {
  const { deploymentId } = await seedDeployment(database.db);
  const problems: unknown[] = [];
  const record = createInstanceRecord(instanceStore(database.db, { id: newId(), generation: 1 }), (problem) =>
    problems.push(problem),
  );
  const other = row(deploymentId);
  // Its deployment was deleted while it started.
  record.started(row(newId()));
  record.started(other);
  // PostgreSQL cannot store every character that a server prints.
  record.changed(other.id, { state: "crashed", endReason: "nul \0" });
  record.changed(other.id, { state: "ready", readyAt: new Date() });
  await record.close(3000);
  const [stored] = await database.db.select().from(instance).where(eq(instance.id, other.id));
  expect(stored?.state).toBe("ready");
  expect(problems).toHaveLength(2);
});

test("RUN-8 only the newest start of a runner changes its rows, claims what has not ended, and learns what was in use", async () => {
  const { deploymentId } = await seedDeployment(database.db);
  const id = newId();
  const [first, second] = [1, 2].map((generation) => instanceStore(database.db, { id, generation }));
  const other = instanceStore(database.db, { id: newId(), generation: 9 });
  const of = { deploymentId, callerId: null };
  const running = row(deploymentId);
  const ended = row(deploymentId);
  const stored = async () => (await database.db.select().from(instance).where(eq(instance.id, running.id)))[0];
  await first?.insert(running);
  await first?.insert(ended);
  await first?.change(ended.id, { state: "crashed" });
  expect(await other.claim(running.id, of)).toBeNull();
  await other.endLost();
  await other.change(running.id, { state: "ready" });
  expect(await stored()).toMatchObject({ state: "starting", generation: 1 });

  expect(await second?.claim(running.id, of)).toMatchObject({ restarts: 0, readyAt: null });
  expect(await second?.claim(ended.id, of)).toBeNull();
  // Killed before it had written its row; and one whose deployment was deleted meanwhile.
  expect(await second?.claim(newId(), of)).not.toBeNull();
  expect(await second?.claim(newId(), { ...of, deploymentId: newId() })).toBeNull();
  await second?.change(running.id, { state: "ready" });
  // The first one still lives, and thinks that all has ended.
  await first?.change(running.id, { state: "crashed" });
  expect(await first?.claim(running.id, of)).toBeNull();
  expect(await first?.endLost()).toEqual([]);
  expect(await stored()).toMatchObject({ state: "ready", generation: 2, runner: id });
  // The next one has found nothing that runs.
  const asleep = await seedDeployment(database.db);
  const frozen = row(asleep.deploymentId);
  await second?.insert(frozen);
  await second?.change(frozen.id, { state: "ready" });
  await second?.change(frozen.id, { state: "frozen" });
  // Its caller starts it with the next call.
  await second?.insert({ ...row((await seedDeployment(database.db)).deploymentId), callerId: newId() });
  expect(await instanceStore(database.db, { id, generation: 3 }).endLost()).toEqual([deploymentId]);
  expect(await stored()).toMatchObject({ state: "stopped", endReason: "It ended with the runner." });
});

test("PRJ-19 the memory of a server is recorded, and again only after it changed by more than a tenth", async () => {
  const { deploymentId } = await seedDeployment(database.db);
  const record = createInstanceRecord(instanceStore(database.db, { id: newId(), generation: 1 }), () => {});
  const context = { log: undefined as never, redact: String, limits: { memoryBytes: 0, processes: 1 } };
  const server = Instance.starting(context, record, { deploymentId, callerId: null, restarts: 0 });
  const stored = async () => {
    await record.close(3000);
    const [found] = await database.db.select().from(instance).where(eq(instance.id, server.id));
    return found?.memoryBytes;
  };
  expect(await stored()).toBeNull();
  server.measured(50_000_000);
  expect(await stored()).toBe(50_000_000);
  server.measured(54_000_000);
  expect(await stored()).toBe(50_000_000);
  server.measured(56_000_000);
  expect(await stored()).toBe(56_000_000);
  server.measured(20_000_000);
  expect(await stored()).toBe(20_000_000);
});
