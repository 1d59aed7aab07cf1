import { auditLog, user } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { refusal, refusalCode, seedUser, testContext } from "../../testing/index.ts";
import { getProfile } from "../organization/index.ts";
import { listAccountActivity, recordAccountChange, updatePreferences } from "./index.ts";

const database = openTestDatabase();

test("ORG-4 a person's time zone and clock are stored with their profile; nonsense is refused", async () => {
  const { id, actor } = await seedUser(database.db);
  const ctx = testContext(database.db, actor);
  const preferences = async () => (await getProfile({ ctx, input: { userId: id } })).preferences;
  expect(await preferences()).toEqual({ timeZone: null, hourCycle: "h23" });
  await updatePreferences({ ctx, input: { timeZone: "Asia/Tokyo", hourCycle: "h12" } });
  expect(await preferences()).toEqual({ timeZone: "Asia/Tokyo", hourCycle: "h12" });
  const wrong = updatePreferences({ ctx, input: { timeZone: "Mars/Olympus", hourCycle: "h12" } });
  expect((await refusal(wrong)).fields).toEqual({ timeZone: "There is no such time zone" });
  const operator = testContext(database.db, { kind: "operator", ipAddress: null });
  expect(await refusalCode(updatePreferences({ ctx: operator, input: { timeZone: null, hourCycle: "h23" } }))).toBe(
    "forbidden",
  );
  await database.db.update(user).set({ hourCycle: "of a later version" }).where(eq(user.id, id));
  expect((await preferences()).hourCycle).toBe("h23");
});

test("ORG-7 ORG-10 people read what was done to their own account, by them and the operator, and nobody else's", async () => {
  const [own, other] = [await seedUser(database.db), await seedUser(database.db)];
  const operator = testContext(database.db, { kind: "operator", ipAddress: null });
  for (const { id, actor } of [own, other]) {
    const ctx = testContext(database.db, actor);
    await recordAccountChange({ ctx, input: { userId: id, action: "account.password_change" } });
    await recordAccountChange({ ctx: operator, input: { userId: id, action: "account.two_factor_off" } });
  }
  const activity = await listAccountActivity({ ctx: testContext(database.db, own.actor) });
  const seen = activity.map(({ action, byOperator, ipAddress }) => [action, byOperator, ipAddress]);
  expect(seen).toHaveLength(2);
  expect(seen).toContainEqual(["account.password_change", false, "192.0.2.1"]);
  expect(seen).toContainEqual(["account.two_factor_off", true, null]);
  await database.db.insert(auditLog).values(
    Array.from({ length: 30 }, () => ({
      id: newId(),
      actor: `user:${own.id}`,
      action: "account.session_end",
      subject: own.id,
    })),
  );
  expect(await listAccountActivity({ ctx: testContext(database.db, own.actor) })).toHaveLength(20);
  expect(await refusalCode(listAccountActivity({ ctx: operator }))).toBe("forbidden");
});
