import { auditLog, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { deleteProject } from "../../projects/project/index.ts";
import {
  refusal,
  refusalCode,
  type SeededOrganization,
  seedOrganization,
  seedProject,
  testContext,
} from "../../testing/index.ts";
import { openProjectSuite } from "../../testing/project-suite.ts";
import { createApiKey } from "../api-key/index.ts";
import { removeMember } from "../member/index.ts";
import { exportAuditEntries, listAuditActors, listAuditEntries } from "./index.ts";

const suite = openProjectSuite();

const as = (actor: Actor) => testContext(suite.database.db, actor);
const idOf = (actor: Actor) => (actor.kind === "user" ? actor.userId : "");
const list = (actor: Actor, filter: object = {}, of = suite.organization) =>
  listAuditEntries({ ctx: as(actor), input: { orgSlug: of.slug, ...filter } });
async function exported(of: SeededOrganization, filter: object = {}) {
  const pages = await exportAuditEntries({ ctx: as(of.owner), input: { orgSlug: of.slug, ...filter } });
  const entries = [];
  for await (const page of pages) entries.push(...page);
  return entries;
}
const insert = (of: SeededOrganization, entries: readonly Partial<typeof auditLog.$inferInsert>[]) =>
  suite.database.db.insert(auditLog).values(
    entries.map((entry) => ({
      id: newId(),
      organizationId: of.id,
      actor: "operator",
      action: "project.create",
      ...entry,
    })),
  );

test("ORG-10 an entry says who did what, when and from where, in words, with the server", async () => {
  const admin = await suite.organization.join("admin");
  await createApiKey({ ctx: as(admin), input: { orgSlug: suite.organization.slug, kind: "organization", name: "CI" } });
  const server = await seedProject(suite.database.db, suite.organization);
  await insert(suite.organization, [
    {
      actor: "job:build.run",
      action: "deployment.go-live",
      projectId: server.id,
      detail: { commit: "0123456789", branch: "main", label: server.name },
    },
  ]);
  const { entries, nextCursor } = await list(suite.organization.owner);
  expect(nextCursor).toBeNull();
  expect(entries.map(({ actor, text, project, ipAddress }) => [actor.name, text, project?.name, ipAddress])).toEqual([
    ["Towpath", `put commit 0123456 of main live as ${server.name}`, server.name, null],
    ["Ada", "created the organization API key CI", undefined, "192.0.2.1"],
  ]);
  expect(Math.abs(Date.parse(entries[1]?.at ?? "") - Date.now())).toBeLessThan(60_000);
  await deleteProject({
    ctx: as(suite.organization.owner),
    input: { orgSlug: suite.organization.slug, projectName: server.name, confirmation: server.name },
  });
  const [deleted, erased] = (await list(suite.organization.owner)).entries;
  expect([deleted?.text, deleted?.actor.name]).toEqual([`deleted the server ${server.name}`, "Ada"]);
  expect([erased?.text, erased?.project]).toEqual(["put commit … live as …", null]);
});

test("ORG-10 what the platform did with variables is in words, without the id of what it was for", async () => {
  const own = await seedOrganization(suite.database.db);
  const decrypted = { actor: "job:runner", action: "secret.decrypt", subject: newId() };
  await insert(
    own,
    ["build", "start", "redaction"].map((reason, at) => ({
      ...decrypted,
      detail: { reason },
      createdAt: new Date(at),
    })),
  );
  await insert(own, [{ action: "secret.decrypt", subject: "API_KEY", createdAt: new Date(9) }]);
  expect((await list(own.owner, {}, own)).entries.map(({ text }) => text)).toEqual([
    "read the value of API_KEY",
    "read the variables to remove their values from logs and chats",
    "read the variables to start the server",
    "read the variables for a build",
  ]);
});

test("ORG-10 who has left keeps their name in the log, and a deleted account has none", async () => {
  const own = await seedOrganization(suite.database.db);
  const [left, gone] = [await own.join("admin"), await own.join("admin")];
  await insert(own, [{ actor: `user:${idOf(left)}` }, { actor: `user:${idOf(gone)}` }]);
  await removeMember({ ctx: as(own.owner), input: { orgSlug: own.slug, userId: idOf(left) } });
  await suite.database.db.delete(user).where(eq(user.id, idOf(gone)));
  const actors = await listAuditActors({ ctx: as(own.owner), input: { orgSlug: own.slug } });
  expect(actors.map(({ id, name }) => [id, name]).toSorted()).toEqual(
    [
      [`user:${idOf(left)}`, "Ada"],
      [`user:${idOf(own.owner)}`, "Ada"],
      [`user:${idOf(gone)}`, "Deleted account"],
    ].toSorted(),
  );
});

test("ORG-10 the log is narrowed by person, kind of action and time", async () => {
  const own = await seedOrganization(suite.database.db);
  const at = (day: number) => new Date(Date.UTC(2026, 10, day));
  await insert(own, [
    { actor: `user:${idOf(own.owner)}`, action: "member.remove", detail: { name: "Bob" }, createdAt: at(1) },
    { actor: "operator", action: "secret.create", subject: "API_KEY", createdAt: at(2) },
    { actor: "job:build.run", action: "deployment.go-live", createdAt: at(3) },
    { actor: "operator", action: "strange.action", createdAt: at(4) },
  ]);
  const actions = async (filter: object) => (await list(own.owner, filter, own)).entries.map(({ action }) => action);
  expect(await actions({})).toEqual(["strange.action", "deployment.go-live", "secret.create", "member.remove"]);
  expect(await actions({ actor: `user:${idOf(own.owner)}` })).toEqual(["member.remove"]);
  expect(await actions({ actor: "towpath" })).toEqual(["deployment.go-live"]);
  expect(await actions({ actor: "operator", group: "variables" })).toEqual(["secret.create"]);
  expect(await actions({ from: at(2).toISOString(), to: at(3).toISOString() })).toEqual(["secret.create"]);
  expect(await refusalCode(list(own.owner, { group: "weather" }, own))).toBe("invalid_input");
  expect(await refusalCode(list(own.owner, { from: "yesterday" }, own))).toBe("invalid_input");
});

test("ORG-10 pages follow one another by keyset, also where entries have the same time", async () => {
  const own = await seedOrganization(suite.database.db);
  const createdAt = new Date();
  await insert(
    own,
    Array.from({ length: 25 }, (_, at) => ({ createdAt: at < 20 ? createdAt : new Date(0), subject: `s${at}` })),
  );
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 4; page++) {
    const { entries, nextCursor } = await list(own.owner, { limit: 7, ...(cursor && { cursor }) }, own);
    seen.push(...entries.map(({ id }) => id));
    if (page === 0) await insert(own, [{ subject: "later" }]);
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  expect([seen.length, new Set(seen).size]).toEqual([25, 25]);
  for (const wrong of ["x", "2026_x", `x_${newId()}`])
    expect(await refusalCode(list(own.owner, { cursor: wrong }, own))).toBe("invalid_input");
});

test("ORG-10 an export has every entry once, and is refused when it would have too many", async () => {
  const own = await seedOrganization(suite.database.db);
  await suite.database.pool.query(
    `INSERT INTO audit_log (id, organization_id, actor, action, created_at)
     SELECT gen_random_uuid(), $1, 'operator', 'project.create', now() - n * interval '1 second' FROM generate_series(1, 2500) n`,
    [own.id],
  );
  const entries = await exported(own);
  expect([entries.length, new Set(entries.map(({ id }) => id)).size]).toEqual([2500, 2500]);
  await suite.database.pool.query(
    `INSERT INTO audit_log (id, organization_id, actor, action, created_at)
     SELECT gen_random_uuid(), $1, 'operator', 'project.create', now() - interval '1 year' FROM generate_series(1, 98000)`,
    [own.id],
  );
  expect((await refusal(exported(own))).code).toBe("limit_reached");
  expect(await exported(own, { from: new Date(Date.now() - 86_400_000).toISOString() })).toHaveLength(2500);
});

test("ORG-10 an export ends when its reader loses their role", async () => {
  const own = await seedOrganization(suite.database.db);
  const admin = await own.join("admin");
  await insert(
    own,
    Array.from({ length: 1500 }, () => ({})),
  );
  const pages = await exportAuditEntries({ ctx: as(admin), input: { orgSlug: own.slug } });
  expect((await pages.next()).done).toBe(false);
  await removeMember({ ctx: as(own.owner), input: { orgSlug: own.slug, userId: idOf(admin) } });
  expect(await refusalCode(pages.next())).toBe("forbidden");
});

test("ORG-10 only admins and owners read the log, and only their organization's", async () => {
  const other = await seedOrganization(suite.database.db);
  const readers = [listAuditEntries, listAuditActors, exportAuditEntries];
  for (const actor of [await suite.organization.join("member"), await suite.organization.join("viewer"), other.owner])
    for (const read of readers)
      expect(
        await refusalCode(read({ ctx: as(actor), input: { orgSlug: suite.organization.slug } }) as Promise<unknown>),
      ).toBe("forbidden");
  const theirs = await list(other.owner, {}, other);
  expect(theirs.entries).toEqual([]);
});
