import { member } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { openOrganization, refusalCode, seedProject, seedUser, testContext } from "../testing/index.ts";
import { authorize, authorizeProject, withAccess } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
const others = openOrganization(database);

/** A viewer's context after the check at the start of a request, and the end of the membership right after that. */
async function checkedViewer() {
  const account = await seedUser(database.db);
  const row = { id: account.id, organizationId: organization.id, userId: account.id, role: "viewer" };
  await database.db.insert(member).values(row);
  const project = await seedProject(database.db, organization);
  const before = testContext(database.db, account.actor);
  const scope = { orgSlug: organization.slug, projectName: project.name };
  const ctx = withAccess(before, await authorizeProject(before, "project.read", scope));
  await database.db
    .delete(member)
    .where(and(eq(member.organizationId, organization.id), eq(member.userId, account.id)));
  return { before, ctx, project, scope };
}

test("PRJ-1 within one request access is read once, and each verb checks its own permission against it", async () => {
  const { before, ctx, project, scope } = await checkedViewer();
  const expected = { project: { id: project.id }, organization: { id: organization.id }, role: "viewer" };
  const named = { ...scope, projectName: project.name.toUpperCase() };
  for (const same of [scope, named, { ...scope, projectName: project.id }, { projectId: project.id }]) {
    expect(await authorizeProject(ctx, "build.read", same)).toMatchObject(expected);
    expect(await refusalCode(authorizeProject(ctx, "build.start", same))).toBe("forbidden");
  }
  expect(await authorize(ctx, "project.read", { orgSlug: organization.slug })).toMatchObject({ role: "viewer" });
  expect(await refusalCode(authorize(ctx, "project.create", { organizationId: organization.id }))).toBe("forbidden");
  expect(await refusalCode(authorizeProject(before, "project.read", scope))).toBe("not_found");
});

test("PRJ-1 ERR-1 access to one project is no access to others, nor for another actor", async () => {
  const { ctx, project, scope } = await checkedViewer();
  const sibling = await seedProject(database.db, organization);
  const theirs = await seedProject(database.db, others);
  for (const other of [
    { projectId: sibling.id },
    { ...scope, projectName: sibling.name },
    { projectId: theirs.id },
    { orgSlug: others.slug, projectName: project.name },
    { orgSlug: others.slug, projectName: project.id },
  ]) {
    expect(await refusalCode(authorizeProject(ctx, "project.read", other)), JSON.stringify(other)).toBe("not_found");
  }
  expect(await refusalCode(authorize(ctx, "project.read", { orgSlug: others.slug }))).toBe("forbidden");
  const copy = { ...ctx, actor: others.owner };
  expect(await refusalCode(authorizeProject(copy, "project.read", scope))).toBe("not_found");
});
