import { openTestDatabase } from "@towpath/db/testing";
import { beforeEach, expect, test } from "vitest";
import { openOrganization, refusalCode, seedOrganization, testContext } from "../../testing/index.ts";
import {
  beginScheduledBackup,
  endScheduledBackup,
  forgetScheduledBackups,
  getScheduledBackup,
  isBackupDue,
} from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);
beforeEach(() => forgetScheduledBackups(database.db));

const everyHours = 24;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
const isDue = (now = new Date()) => isBackupDue(database.db, { everyHours, now });
const begin = (now: Date) => beginScheduledBackup(database.db, { everyHours, now });
const end = (now: Date, problem: string | null = null) =>
  endScheduledBackup(database.db, { now, problem, made: problem === null ? { name: "a.age", bytes: 5 } : null });
const input = () => ({ orgSlug: organization.slug });
const view = async (actor = organization.owner) =>
  getScheduledBackup({ ctx: testContext(database.db, actor), input: input() });

test("OPS-3 a back-up is due at first, after its interval, an hour after a failure, and when its worker was killed", async () => {
  expect(await isDue()).toBe(true);
  await begin(hoursAgo(2));
  expect([await isDue(), (await view())?.state]).toEqual([false, "first"]);
  expect(await isDue(new Date(Date.now() + 5 * 3_600_000))).toBe(true);
  await end(hoursAgo(1.9));
  expect([await isDue(), (await view())?.state]).toEqual([false, "made"]);
  await begin(hoursAgo(25));
  await end(hoursAgo(24.9));
  expect(await isDue()).toBe(true);
  await begin(hoursAgo(0.5));
  await end(hoursAgo(0.4), "The disk is full.");
  expect(await isDue()).toBe(false);
  await begin(hoursAgo(1.1));
  await end(hoursAgo(1), "The disk is full.");
  expect(await isDue()).toBe(true);
});

test("OPS-3 admins see the newest back-up, why one failed, and that one is late; others don't", async () => {
  expect(await view()).toBeNull();
  await begin(hoursAgo(50));
  await end(hoursAgo(49));
  expect(await view()).toMatchObject({ state: "late", name: "a.age", bytes: 5, everyHours });
  await begin(hoursAgo(1));
  await end(hoursAgo(1), "The disk is full.");
  // What was made earlier is still there.
  expect(await view()).toMatchObject({ state: "failed", name: "a.age", problem: "The disk is full." });
  expect(await refusalCode(view(await organization.join("member")))).toBe("forbidden");
  expect(await refusalCode(view((await seedOrganization(database.db)).owner))).toBe("forbidden");
});
