import { auditLog, project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { getProject, updateProject } from "../../projects/project/index.ts";
import { openOrganization, refusalCode, seedProject, testContext } from "../../testing/index.ts";
import { recordDataUsage } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database);
const others = openOrganization(database);

test("BLD-19 PRJ-11 members switch lasting data on and off, which is audited, and see how full it is", async () => {
  const { id, name } = await seedProject(database.db, organization);
  const input = { orgSlug: organization.slug, projectName: name };
  const [member, viewer] = [await organization.join("member"), await organization.join("viewer")];
  const set = (actor: Actor, keepsData: boolean) =>
    updateProject({ ctx: testContext(database.db, actor), input: { ...input, keepsData } });
  const row = async () => (await database.db.select().from(project).where(eq(project.id, id)))[0];
  expect(await getProject({ ctx: testContext(database.db, viewer), input })).toMatchObject({
    keepsData: false,
    data: null,
  });
  expect(await set(member, true)).toMatchObject({ keepsData: true });
  expect(await row()).toMatchObject({ keepsData: true, dataOffAt: null });
  const at = new Date();
  const volumes = [id, newId()].map((each) => ({ id: each, usedBytes: 3, capacityBytes: 10 }));
  await recordDataUsage(database.db, { host: "one", at, volumes });
  const usage = { usedBytes: 3, capacityBytes: 10, measuredAt: at.toISOString() };
  expect((await getProject({ ctx: testContext(database.db, viewer), input })).data).toEqual(usage);
  expect(await set(member, false)).toMatchObject({ keepsData: false });
  const offAt = (await row())?.dataOffAt;
  expect(offAt).toBeInstanceOf(Date);
  // The week for which it is kept starts then, and saving again doesn't extend it.
  await set(member, false);
  expect((await row())?.dataOffAt).toEqual(offAt);
  expect(await refusalCode(set(viewer, true))).toBe("forbidden");
  expect(await refusalCode(set(others.owner, true))).toBe("not_found");
  const audits = await database.db.select().from(auditLog).where(eq(auditLog.projectId, id));
  expect(audits.map(({ detail }) => detail)).toEqual([true, false, false].map((keepsData) => ({ keepsData })));
});
