import { seedOrganization, seedProject } from "@towpath/core/testing";
import { alertEvent } from "@towpath/db/schema";
import { writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalInstance, openLocalInstance } from "../testing/local-instance.ts";

let instance: LocalInstance;
beforeAll(async () => {
  instance = await openLocalInstance();
});
afterAll(() => instance.close());

test("CAP-6 a worker raises an alert for an error that is new, and none for its next occurrences", async () => {
  const { db, pool } = instance.database;
  const { id: projectId } = await seedProject(db, await seedOrganization(db));
  const failed = (errorMessage: string) =>
    requestLogRow({ projectId, isError: true, outcome: "tool_error", serverMs: 1, errorMessage });
  await writeRequestLogs(pool, [failed("no such city: 17"), failed("no such city: 4711")]);
  await instance.start("worker");
  const titles = async () => {
    const found = await db.select().from(alertEvent).where(eq(alertEvent.projectId, projectId));
    return found.map(({ kind, detail }) => [kind, (detail as { title: string }).title]).toSorted();
  };
  await expect
    .poll(titles, { timeout: 30_000 })
    .toMatchObject([["error.new", expect.stringContaining("no such city")]]);
  await writeRequestLogs(pool, [failed("no such city: 99"), failed("the disk is full")]);
  await expect.poll(async () => (await titles()).length, { timeout: 30_000 }).toBe(2);
  expect((await titles())[1]?.[1]).toContain("the disk is full");
});
