import { auditLog } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { refusalCode, seedOrganization, testContext } from "../../testing/index.ts";
import { listInstallations, recordGitHubUser, recordInstallation } from "./index.ts";

const database = openTestDatabase();

test("ONB-2 GH-1 an installation is recorded once per organization and listed there", async () => {
  const organization = await seedOrganization(database.db);
  const others = await seedOrganization(database.db);
  const ctx = testContext(database.db, organization.owner);
  const input = { orgSlug: organization.slug, installationId: 77, accountLogin: "ada", accountType: "User" };
  await recordInstallation({ ctx, input });
  const renamed = await recordInstallation({ ctx, input: { ...input, accountLogin: "ada-b" } });
  expect(renamed).toMatchObject({ installationId: 77, organizationId: organization.id, accountLogin: "ada-b" });
  const list = await listInstallations({ ctx, input: { orgSlug: organization.slug } });
  expect(list.map((each) => each.installationId)).toEqual([organization.installationId, 77]);
  const theirs = testContext(database.db, others.owner);
  expect(await refusalCode(recordInstallation({ ctx: theirs, input }))).toBe("forbidden");
  expect(await refusalCode(listInstallations({ ctx: theirs, input }))).toBe("forbidden");
  const viewer = testContext(database.db, await organization.join("viewer"));
  expect(await refusalCode(recordInstallation({ ctx: viewer, input }))).toBe("forbidden");
  expect(await refusalCode(recordInstallation({ ctx, input: { ...input, installationId: -1 } }))).toBe("invalid_input");
  // The same installation may serve a second organization of the same person.
  await recordInstallation({ ctx: theirs, input: { ...input, orgSlug: others.slug } });
  expect(await database.db.$count(auditLog, eq(auditLog.organizationId, organization.id))).toBe(2);
});

test("ORG-10 what was connected before is no change: one entry for what a person did", async () => {
  const organization = await seedOrganization(database.db);
  const ctx = testContext(database.db, organization.owner);
  const input = { orgSlug: organization.slug, installationId: 78, accountLogin: "ada", accountType: "User" };
  const own = eq(auditLog.actor, `user:${ctx.actor.kind === "user" ? ctx.actor.userId : ""}`);
  for (let round = 0; round < 3; round++) {
    await recordInstallation({ ctx, input });
    await recordGitHubUser({ ctx, input: { githubUserId: 4711 } });
  }
  const entries = await database.db.select().from(auditLog).where(own);
  expect(entries.map(({ action }) => action).toSorted()).toEqual(["installation.record", "user.connect-github"]);
  await recordGitHubUser({ ctx, input: { githubUserId: 4712 } });
  expect(await database.db.$count(auditLog, own)).toBe(3);
});
