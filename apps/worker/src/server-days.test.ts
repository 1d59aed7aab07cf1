import { seedOrganization, seedProject } from "@towpath/core/testing";
import { organization, project, serverDay } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { countServerDays, foldRequestLogs, readServerDays, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";

const database = openTestDatabase();

const dayMs = 86_400_000;
const today = new Date().toISOString().slice(0, 10);
const startOfToday = Date.parse(`${today}T00:00:00Z`);
const dayBefore = (days: number) => new Date(startOfToday - days * dayMs).toISOString().slice(0, 10);

type Change = Partial<Parameters<typeof requestLogRow>[0]>;

async function write(projectId: string, rows: readonly Change[]): Promise<void> {
  await writeRequestLogs(
    database.pool,
    rows.map((row) => requestLogRow({ ...row, projectId })),
  );
  while ((await foldRequestLogs(database.pool)) > 0);
}

const refused: Change = { httpStatus: 401, isError: true, refusal: "unauthorized", outcome: "gateway_error" };
const toolError: Change = { isError: true, outcome: "tool_error", errorMessage: "no such city" };
const noAnswer: Change = { httpStatus: 502, isError: true, outcome: "gateway_error" };
const cut: Change = { isError: true, outcome: "closed_by_server" };

async function seedPublic(hasStatusPage: boolean) {
  const owner = await seedOrganization(database.db);
  await database.db.update(organization).set({ hasStatusPage }).where(eq(organization.id, owner.id));
  const createdAt = new Date(startOfToday - 3 * dayMs);
  const { id } = await seedProject(database.db, owner, { isPublic: true, createdAt });
  return { owner, id };
}

test("PUB-10 a finished day is counted once, today goes on, and no call counts twice", async () => {
  const { id } = await seedPublic(true);
  const at = (days: number, row: Change = {}): Change => ({ time: startOfToday - days * dayMs + 1000, ...row });
  await write(id, [at(2), at(2), at(2, toolError), at(2, noAnswer), at(2, cut), at(2, refused)]);
  await write(id, [at(0), at(0, noAnswer)]);
  const count = (now: number) => countServerDays(database.pool, { now: new Date(now) });
  const noon = startOfToday + dayMs / 2;
  // Two workers at once. One that begins later finds finished days counted.
  const counted = await Promise.all([count(noon), count(noon)]);
  expect([Math.max(...counted), counted.every((days) => days === 4 || days === 1)]).toEqual([4, true]);
  const days = () => readServerDays(database.pool, [id], dayBefore(10));
  const figures = async () => (await days()).map(({ day, calls, unanswered }) => [day, calls, unanswered]);
  const finished = [
    [dayBefore(3), 0, 0],
    [dayBefore(2), 5, 2],
    [dayBefore(1), 0, 0],
  ];
  expect(await figures()).toEqual([...finished, [today, 2, 1]]);
  expect((await days())[1]?.p95Ms).toBeCloseTo(1.5, 0);

  await write(id, [{ time: noon + 1000, ...noAnswer }]);
  // The newest two minutes wait.
  expect(await count(noon + 60_000)).toBe(1);
  expect(await figures()).toEqual([...finished, [today, 3, 1]]);
  await count(noon + 600_000);
  await count(noon + 600_000);
  expect(await figures()).toEqual([...finished, [today, 3, 2]]);
  // A row that came late counts once the day has ended.
  await write(id, [at(0, noAnswer)]);
  await count(startOfToday + dayMs + 2 * 3_600_000);
  expect(await figures()).toEqual([...finished, [today, 4, 3], [dayBefore(-1), 0, 0]]);
});

test("PUB-10 without a status page, and of private servers, nothing is counted", async () => {
  const { id } = await seedPublic(false);
  const other = await seedPublic(true);
  await database.db.update(project).set({ isPublic: false }).where(eq(project.id, other.id));
  await countServerDays(database.pool, { now: new Date() });
  for (const projectId of [id, other.id])
    expect(await database.db.$count(serverDay, eq(serverDay.projectId, projectId))).toBe(0);
});
