import { auditLog, invitation, project } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { startBuild } from "../../delivery/build/index.ts";
import { newId } from "../../ids/index.ts";
import { getProfile } from "../../tenancy/organization/index.ts";
import { refusalCode, seedOrganization, seedUser, shaOf, succeedBuild } from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { getFirstSteps, hideFirstSteps, mayHaveFirstSteps } from "./index.ts";

const suite = openProjectSuite();
const nothing = { isCalled: false, isConnected: false };
const ctx = () => suite.as(suite.organization.owner);
const steps = (uses = nothing) => getFirstSteps({ ctx: ctx(), input: { ...suite.at(), ...uses } });
const row = async () => {
  const [found] = await suite.database.db.select().from(project).where(eq(project.id, suite.project.id));
  return found ?? expect.fail("no project");
};

async function deploy(commit: string): Promise<void> {
  const input = { ...suite.at(), branch: "main", commitSha: shaOf(commit), reuse: "never" } as const;
  await succeedBuild(suite.database.db, (await startBuild({ ctx: ctx(), input })).build.id);
}

test("SRC-4 a second commit's build and a second member tick steps off; once all are done nobody asks again", async () => {
  expect(await steps()).toEqual({ ...nothing, isChanged: false, hasInvited: false });
  await deploy("a");
  await deploy("a");
  // Rebuilt, but not changed.
  expect(await steps()).toMatchObject({ isChanged: false });
  await deploy("b");
  expect(await steps()).toMatchObject({ isChanged: true, hasInvited: false });
  await suite.organization.join("viewer");
  expect(await steps({ isCalled: true, isConnected: false })).toMatchObject({ isCalled: true, hasInvited: true });
  expect(mayHaveFirstSteps(ctx(), await row())).toBe(true);
  const all = { isCalled: true, isConnected: true };
  expect(await steps(all)).toEqual({ ...all, isChanged: true, hasInvited: true });
  expect(mayHaveFirstSteps(ctx(), await row())).toBe(false);
});

test("SRC-4 an invitation counts until it is revoked; a package has nothing to change; an old server lists nothing", async () => {
  const { db } = suite.database;
  const id = newId();
  const expiresAt = new Date(Date.now() + 86_400_000);
  const invited = {
    id,
    organizationId: suite.organization.id,
    email: "bea@example.com",
    role: "member",
    status: "pending",
  };
  await db.insert(invitation).values({ ...invited, expiresAt });
  expect(await steps()).toMatchObject({ hasInvited: true });
  await db.update(invitation).set({ status: "revoked" }).where(eq(invitation.id, id));
  expect(await steps()).toMatchObject({ hasInvited: false });
  await db.update(project).set({ packageName: "mcp-server-time" }).where(eq(project.id, suite.project.id));
  expect(await steps()).toMatchObject({ isChanged: null });
  const after = (days: number) => ({ clock: { now: () => new Date(Date.now() + days * 86_400_000) } });
  const found = await row();
  expect([13, 15].map((days) => mayHaveFirstSteps(after(days), found))).toEqual([true, false]);
});

test("SRC-4 another organization's server has no first steps; hiding them is a person's own, and in the audit log", async () => {
  const stranger = await seedOrganization(suite.database.db);
  const input = { ...suite.at(), ...nothing };
  expect(await refusalCode(getFirstSteps({ ctx: suite.as(stranger.owner), input }))).toBe("not_found");
  const [own, other] = [await seedUser(suite.database.db), await seedUser(suite.database.db)];
  const hides = async ({ id, actor }: typeof own) =>
    (await getProfile({ ctx: suite.as(actor), input: { userId: id } })).hidesFirstSteps;
  await hideFirstSteps({ ctx: suite.as(own.actor) });
  expect([await hides(own), await hides(other)]).toEqual([true, false]);
  const entries = await suite.database.db.select().from(auditLog).where(eq(auditLog.subject, own.id));
  expect(entries).toMatchObject([{ action: "account.preferences", detail: { hidesFirstSteps: true } }]);
  const operator = suite.as({ kind: "operator", ipAddress: null });
  expect(await refusalCode(hideFirstSteps({ ctx: operator }))).toBe("forbidden");
});
