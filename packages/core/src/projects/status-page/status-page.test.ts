import { auditLog, deployment, instance } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { refusalCode, seedLiveProject, seedOrganization, seedProject, testContext } from "../../testing/index.ts";
import { describeStatusPage, getStatusPage, setStatusPage } from "./index.ts";

const database = openTestDatabase();

test("PUB-10 strangers see the status of public servers once an admin shows it, and nothing else", async () => {
  const organization = await seedOrganization(database.db);
  const of = { orgSlug: organization.slug };
  await seedLiveProject(database.db, organization, { name: "Zebra-server", isPublic: true });
  const failing = await seedLiveProject(database.db, organization, { name: "ant-server", isPublic: true });
  await seedLiveProject(database.db, organization, { name: "hidden-server" });
  await seedProject(database.db, organization, { name: "never-live-server", isPublic: true });
  const ctx = testContext(database.db, await organization.join("admin"));
  const strangers = () => getStatusPage({ ctx: { db: database.db }, input: of });

  expect(await describeStatusPage({ ctx, input: of })).toEqual({ isOn: false, servers: 3 });
  expect(await strangers()).toBeNull();
  await setStatusPage({ ctx, input: { ...of, isOn: true } });
  // Once more changes nothing.
  await setStatusPage({ ctx, input: { ...of, isOn: true } });
  const [live] = await database.db.select().from(deployment).where(eq(deployment.projectId, failing.id));
  await database.db.insert(instance).values({ id: newId(), deploymentId: live?.id ?? "", state: "crashed" });
  const page = await strangers();
  expect(page?.servers.map(({ name, state }) => [name, state])).toEqual([
    ["ant-server", "failing"],
    ["zebra-server", "asleep"],
  ]);
  const written = and(eq(auditLog.organizationId, organization.id), eq(auditLog.action, "organization.status-page"));
  expect(await database.db.$count(auditLog, written)).toBe(1);

  await setStatusPage({ ctx, input: { ...of, isOn: false } });
  expect(await strangers()).toBeNull();
  expect(await getStatusPage({ ctx: { db: database.db }, input: { orgSlug: "nobody-has-it" } })).toBeNull();
});

test("PUB-10 members can't change the status page", async () => {
  const organization = await seedOrganization(database.db);
  const ctx = testContext(database.db, await organization.join("member"));
  const of = { orgSlug: organization.slug };
  expect(await refusalCode(setStatusPage({ ctx, input: { ...of, isOn: true } }))).toBe("forbidden");
  expect(await refusalCode(describeStatusPage({ ctx, input: of }))).toBe("forbidden");
});
