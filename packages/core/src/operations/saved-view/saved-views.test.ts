import { auditLog, branch, defaultView, member, savedView } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, asc, eq, like } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { openOrganization, refusal, refusalCode, seedProject, testContext } from "../../testing/index.ts";
import { deleteView, listDefaultViews, listSavedViews, renameView, saveView, setDefaultView } from "./index.ts";
import type { ViewList } from "./saved-view.schema.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
const others = openOrganization(database);

type Role = Parameters<typeof organization.join>[0];

async function suite(role: Role = "member") {
  const project = await seedProject(database.db, organization);
  const scope = { orgSlug: organization.slug, projectName: project.name };
  const actor = await organization.join(role);
  const ctx = testContext(database.db, actor);
  const save = (name: string, search: Record<string, string>, list: ViewList = "requests", isShared = false) =>
    saveView({ ctx, input: { ...scope, list, name, search, isShared } });
  const names = async (of: typeof ctx = ctx) =>
    (await listSavedViews({ ctx: of, input: scope })).map(({ name, isShared }) => `${name}${isShared ? "+" : ""}`);
  return { project, scope, ctx, actor, save, names };
}

test("CAP-7 a person saves views of a list by name: replaced, renamed, deleted, and nobody else's", async () => {
  const { scope, ctx, save, names } = await suite("viewer");
  const theirs = testContext(database.db, await organization.join("owner"));
  await save("Slow", { duration: ">1s" });
  const failed = await save("  Failed ", { status: "error" });
  expect(await save("Slow", { duration: ">5s" })).toMatchObject({ isNew: false });
  await save("Slow", { sort: "count" }, "errors");
  expect(await listSavedViews({ ctx, input: { ...scope, list: "requests" } })).toMatchObject([
    { name: "Failed", search: { status: "error" }, isShared: false, isDefault: false, missing: {} },
    { name: "Slow", search: { duration: ">5s" } },
  ]);
  expect(await names()).toEqual(["Failed", "Slow", "Slow"]);
  expect(await names(theirs)).toEqual([]);
  const view = { ...scope, viewId: failed.id };
  const refused = await Promise.all(
    [
      renameView({ ctx: theirs, input: { ...view, name: "Mine" } }),
      deleteView({ ctx: theirs, input: view }),
      setDefaultView({ ctx: theirs, input: { ...view, list: "requests" } }),
      deleteView({ ctx, input: { ...view, viewId: "nonsense" } }),
    ].map(refusalCode),
  );
  expect(new Set(refused)).toEqual(new Set(["not_found"]));
  expect(await refusal(renameView({ ctx, input: { ...view, name: "Slow" } }))).toMatchObject({ code: "conflict" });
  await renameView({ ctx, input: { ...view, name: "Broken" } });
  expect(await names()).toEqual(["Broken", "Slow", "Slow"]);
  await deleteView({ ctx, input: view });
  expect(await names()).toEqual(["Slow", "Slow"]);
});

test("CAP-7 ORG-10 whoever may change the settings shares views with all members, and the audit log names each change", async () => {
  const { project, scope, ctx, save, names } = await suite("member");
  const viewer = testContext(database.db, await organization.join("viewer"));
  const shared = await save("Slow", { duration: ">1s" }, "requests", true);
  await save("Slow", { duration: ">9s" });
  expect(await names(viewer)).toEqual(["Slow+"]);
  expect((await names()).toSorted()).toEqual(["Slow", "Slow+"]);
  const view = { ...scope, viewId: shared.id };
  const input = { ...scope, list: "requests" as const, name: "Slow", search: {}, isShared: true };
  expect(await refusal(saveView({ ctx: viewer, input }))).toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("Save your own instead"),
  });
  expect(await refusalCode(renameView({ ctx: viewer, input: { ...view, name: "Mine" } }))).toBe("forbidden");
  expect(await refusalCode(deleteView({ ctx: viewer, input: view }))).toBe("forbidden");
  await save("Slow", { duration: ">2s" }, "requests", true);
  await renameView({ ctx, input: { ...view, name: "Slower" } });
  await deleteView({ ctx, input: view });
  const written = await database.db
    .select({ action: auditLog.action, detail: auditLog.detail })
    .from(auditLog)
    .where(and(eq(auditLog.projectId, project.id), like(auditLog.action, "view.%")))
    .orderBy(asc(auditLog.createdAt), asc(auditLog.id));
  expect(written.map(({ action }) => action)).toEqual(["view.share", "view.update", "view.rename", "view.delete"]);
  expect(written[2]?.detail).toMatchObject({ name: "Slower", from: "Slow", list: "requests" });
});

test("CAP-7 a list opens with the view that a person chose, their own or a shared one, one a list", async () => {
  const { project, scope, ctx, save } = await suite("admin");
  const viewer = testContext(database.db, await organization.join("viewer"));
  const mine = await save("Mine", { status: "error" });
  const shared = await save("Shared", { duration: ">1s" }, "requests", true);
  const choose = (who: typeof ctx, viewId: string | null, list: ViewList = "requests") =>
    setDefaultView({ ctx: who, input: { ...scope, list, viewId } });
  const defaults = async (who: typeof ctx) => {
    const found = (await listDefaultViews({ ctx: who, input: scope })).filter(
      ({ projectId }) => projectId === project.id,
    );
    const listed = await listSavedViews({ ctx: who, input: scope });
    expect(listed.filter(({ isDefault }) => isDefault).map(({ id }) => id)).toEqual(found.map(({ viewId }) => viewId));
    return listed.filter(({ isDefault }) => isDefault).map(({ name }) => name);
  };
  await choose(ctx, mine.id);
  await choose(ctx, shared.id);
  await choose(viewer, shared.id);
  expect([await defaults(ctx), await defaults(viewer)]).toEqual([["Shared"], ["Shared"]]);
  expect(await refusalCode(choose(ctx, mine.id, "errors"))).toBe("invalid_input");
  expect(await refusalCode(choose(ctx, mine.id, "audit"))).toBe("invalid_input");
  await choose(ctx, null);
  await deleteView({ ctx, input: { ...scope, viewId: shared.id } });
  expect([await defaults(ctx), await defaults(viewer)]).toEqual([[], []]);
  const key = { kind: "apiKey", keyId: newId(), organizationId: organization.id, userId: null } as const;
  const byKey = testContext(database.db, { ...key, projectIds: null, ipAddress: null });
  expect(await listDefaultViews({ ctx: byKey, input: scope })).toEqual([]);
  expect(await refusalCode(listSavedViews({ ctx: byKey, input: scope }))).toBe("forbidden");
});

test("CAP-7 a view opens with the filters that still apply, and names those whose branch, deployment or person is gone", async () => {
  const { project, scope, ctx, save } = await suite();
  const row = { id: newId(), projectId: project.id, name: "gusts" };
  await database.db.insert(branch).values(row);
  await save("All", { branch: "gusts", deployment: "abcd", user: "nobody@example.org", status: "error" });
  await save("Builds", { branch: "gusts" }, "deployments");
  const read = async () =>
    Object.fromEntries((await listSavedViews({ ctx, input: scope })).map((view) => [view.name, view]));
  const before = await read();
  expect(before.All).toMatchObject({
    search: { branch: "gusts", status: "error" },
    missing: { deployment: "abcd", user: "nobody@example.org" },
  });
  expect(before.Builds).toMatchObject({ search: { branch: "gusts" }, missing: {} });
  await database.db.delete(branch).where(eq(branch.id, row.id));
  expect((await read()).Builds).toMatchObject({ search: {}, missing: { branch: "gusts" } });
});

test("CAP-7 the organization's lists have views too: the audit log's for those who may read it", async () => {
  const ctx = testContext(database.db, await organization.join("admin"));
  const viewer = testContext(database.db, await organization.join("viewer"));
  const scope = { orgSlug: organization.slug };
  const save = (who: typeof ctx, list: ViewList, isShared: boolean, search: Record<string, string> = { time: "24h" }) =>
    saveView({ ctx: who, input: { ...scope, list, name: list, search, isShared } });
  await save(ctx, "audit", true, { actor: "user:gone", group: "keys" });
  await save(ctx, "servers", true);
  expect(await refusalCode(save(viewer, "audit", false))).toBe("forbidden");
  expect(await refusalCode(save(viewer, "servers", true))).toBe("forbidden");
  expect(await refusalCode(save(ctx, "requests", false))).toBe("invalid_input");
  expect(await listSavedViews({ ctx, input: scope })).toMatchObject([
    { list: "audit", search: { group: "keys" }, missing: { actor: "user:gone" } },
    { list: "servers" },
  ]);
  expect((await listSavedViews({ ctx: viewer, input: scope })).map(({ list }) => list)).toEqual(["servers"]);
});

test("CAP-7 views have a name, filters of a size, and at most fifty a list; other tenants find none", async () => {
  const { project, scope, ctx, actor, save } = await suite();
  expect(await refusal(save(" ", {}))).toMatchObject({ fields: { name: "Give the view a name" } });
  expect(await refusalCode(save("Long", { search: "x".repeat(1025) }))).toBe("invalid_input");
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`p${at}`, "1"]));
  expect(await refusalCode(save("Many", many))).toBe("invalid_input");
  if (actor.kind !== "user") throw new Error("people are members");
  const { userId } = actor;
  const row = { organizationId: organization.id, projectId: project.id, list: "requests", userId, search: {} };
  const times = { createdAt: new Date(), updatedAt: new Date() };
  const full = Array.from({ length: 50 }, (_, at) => ({ id: newId(), ...row, ...times, name: `View ${at}` }));
  await database.db.insert(savedView).values(full);
  expect(await refusal(save("One more", {}))).toMatchObject({ code: "conflict" });
  expect(await save("View 7", { status: "ok" })).toMatchObject({ isNew: false });
  await save("One more", {}, "errors");
  const stranger = testContext(database.db, others.owner);
  expect(await refusalCode(listSavedViews({ ctx: stranger, input: scope }))).toBe("not_found");
  const theirs = { ...scope, orgSlug: others.slug };
  expect(await refusalCode(listSavedViews({ ctx, input: theirs }))).toBe("not_found");
});

test("CAP-7 a person's views end with the membership, shared ones stay", async () => {
  const { project, scope, ctx, actor, save } = await suite();
  if (actor.kind !== "user") throw new Error("people are members");
  await save("Mine", {});
  const shared = await save("Shared", {}, "requests", true);
  await setDefaultView({ ctx, input: { ...scope, list: "requests", viewId: shared.id } });
  const ofPerson = and(eq(member.organizationId, organization.id), eq(member.userId, actor.userId));
  await database.db.delete(member).where(ofPerson);
  const left = await database.db.select().from(savedView).where(eq(savedView.projectId, project.id));
  expect(left.map(({ name }) => name)).toEqual(["Shared"]);
  expect(await database.db.$count(defaultView, eq(defaultView.projectId, project.id))).toBe(0);
});
