import { auditLog, member, organization, user } from "@towpath/db/schema";
import { createTestDatabase, openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { permissionsOf } from "../../authorize/index.ts";
import type { Actor } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { recordGitHubUser } from "../../sources/installation/index.ts";
import { refusal, refusalCode, seedOrganization, seedProject, seedUser, testContext } from "../../testing/index.ts";
import {
  claimLocalOrganization,
  createOrganization,
  displayNameOf,
  ensureLocalOrganization,
  getOrganizationAccess,
  getProfile,
  getSessionAccess,
  getUserProfiles,
  listUserProfiles,
  proposeOrganization,
  updateOrganization,
} from "./index.ts";

const database = openTestDatabase();

const as = (actor: Actor) => testContext(database.db, actor);
const operator: Actor = { kind: "operator", ipAddress: null };

test("ONB-1 an organization gets a unique slug, and its creator is the owner", async () => {
  const ada = await seedUser(database.db);
  const first = await createOrganization({ ctx: as(ada.actor), input: { name: "  Acme, Inc.  " } });
  expect(first).toMatchObject({ name: "Acme, Inc.", slug: "acme-inc" });
  const second = await createOrganization({ ctx: as(ada.actor), input: { name: "ACME inc" } });
  expect(second.slug).toBe("acme-inc-2");
  expect(await getOrganizationAccess({ ctx: as(ada.actor), input: { orgSlug: first.slug } })).toMatchObject({
    id: first.id,
    role: "owner",
  });
  const written = and(eq(auditLog.organizationId, first.id), eq(auditLog.action, "organization.create"));
  expect(await database.db.$count(auditLog, written)).toBe(1);
});

test("SRC-4 a person's first organization is proposed by their name, with the slug that it then gets", async () => {
  const ada = await seedUser(database.db);
  await database.db.update(user).set({ firstName: "Ada", lastName: "Lovelace" }).where(eq(user.id, ada.id));
  const ctx = as(ada.actor);
  for (const slug of ["ada-lovelace", "ada-lovelace-2"]) {
    const proposal = await proposeOrganization({ ctx });
    expect(proposal).toEqual({ name: "Ada Lovelace", slug });
    expect(await createOrganization({ ctx, input: { name: proposal?.name ?? "" } })).toMatchObject({ slug });
  }
  await database.db.update(user).set({ firstName: "🛶", lastName: null }).where(eq(user.id, ada.id));
  expect(await proposeOrganization({ ctx })).toBeNull();
  expect(await refusalCode(proposeOrganization({ ctx: as(operator) }))).toBe("forbidden");
});

test.each([
  ["Login", "login-2"],
  ["Über Größe", "uber-gro-e"],
  ["日本", "team"],
  ["x".repeat(64), "x".repeat(40)],
])("ONB-1 the name %j becomes the slug %s", async (name, slug) => {
  const ada = await seedUser(database.db);
  expect((await createOrganization({ ctx: as(ada.actor), input: { name } })).slug).toBe(slug);
});

test("ONB-1 concurrent creations with one name get different slugs", async () => {
  const ada = await seedUser(database.db);
  const made = await Promise.all(
    Array.from({ length: 6 }, () => createOrganization({ ctx: as(ada.actor), input: { name: "Same Name" } })),
  );
  expect(new Set(made.map((each) => each.slug)).size).toBe(6);
});

test.each([
  ["", "Organization name is required"],
  ["   ", "Organization name is required"],
  ["x".repeat(65), "Organization name must be 64 characters or less"],
  ["---", "Organization name must contain a letter or number"],
])("ONB-1 the name %j is refused", async (name, text) => {
  const ada = await seedUser(database.db);
  const error = await refusal(createOrganization({ ctx: as(ada.actor), input: { name } }));
  expect([error.code, error.fields.name]).toEqual(["invalid_input", text]);
});

test("ONB-1 without an account no organization can be created", async () => {
  expect(await refusalCode(createOrganization({ ctx: as(operator), input: { name: "Acme" } }))).toBe("forbidden");
});

test("ORG-11 only members have access; the error is the same as for an organization that does not exist", async () => {
  const org = await seedOrganization(database.db);
  const viewer = await org.join("viewer");
  const access = await getOrganizationAccess({ ctx: as(viewer), input: { orgSlug: org.slug } });
  expect(access.role).toBe("viewer");
  expect(access.permissions).toContain("project.read");
  expect(access.permissions).not.toContain("project.create");
  const stranger = await seedUser(database.db);
  const foreign = await refusal(getOrganizationAccess({ ctx: as(stranger.actor), input: { orgSlug: org.slug } }));
  const absent = await refusal(getOrganizationAccess({ ctx: as(stranger.actor), input: { orgSlug: "no-such" } }));
  expect([foreign.code, foreign.message]).toEqual(["forbidden", absent.message]);
  expect(absent.code).toBe("forbidden");
});

test("ORG-11 removed members and unknown roles have no access", async () => {
  const org = await seedOrganization(database.db);
  const actor = await org.join("member");
  const userId = actor.kind === "user" ? actor.userId : "";
  await database.db.update(member).set({ role: "emperor" }).where(eq(member.userId, userId));
  expect(await refusalCode(getOrganizationAccess({ ctx: as(actor), input: { orgSlug: org.slug } }))).toBe("forbidden");
  await database.db.delete(member).where(eq(member.userId, userId));
  expect(await refusalCode(getOrganizationAccess({ ctx: as(actor), input: { orgSlug: org.slug } }))).toBe("forbidden");
});

test("AUTH-7 AUTH-12 the profile contains the user's own data only", async () => {
  const org = await seedOrganization(database.db);
  const mine = await seedProject(database.db, org);
  const others = await seedOrganization(database.db);
  await seedProject(database.db, others);
  await recordGitHubUser({ ctx: as(org.owner), input: { githubUserId: 4711 } });
  const userId = org.owner.kind === "user" ? org.owner.userId : "";
  const profile = await getProfile({ ctx: as(org.owner), input: { userId } });
  expect(profile).toMatchObject({
    githubUserId: 4711,
    displayName: "Ada",
    organizations: [{ id: org.id, slug: org.slug, name: expect.any(String), externalId: org.id, role: "owner" }],
    githubInstallations: [{ installationId: org.installationId, organizationId: org.id }],
    projects: [{ id: mine.id, name: mine.name, orgSlug: org.slug, kind: "hosted" }],
  });
  const nobody = await seedUser(database.db);
  const own = { ctx: as(nobody.actor), input: { userId: nobody.id } };
  expect(await getProfile(own)).toMatchObject({ organizations: [], projects: [] });
  expect(await refusalCode(getProfile({ ...own, input: { userId } }))).toBe("not_found");
  await database.db.delete(user).where(eq(user.id, nobody.id));
  expect(await refusalCode(getProfile(own))).toBe("not_found");
});

test("AUTH-4 AUTH-12 a session's role and permissions are those of its organization, else of the user's first one", async () => {
  const [first, second] = [await seedOrganization(database.db), await seedOrganization(database.db)];
  const actor = await first.join("viewer");
  const userId = actor.kind === "user" ? actor.userId : "";
  const later = new Date(Date.now() + 1000);
  const joined = { id: newId(), organizationId: second.id, userId, role: "admin", createdAt: later };
  await database.db.insert(member).values(joined);
  const sessionOf = (organizationId: string | null) => getSessionAccess({ ctx: as(actor), input: { organizationId } });
  const shown = ({ id, slug }: { id: string; slug: string }) => ({
    orgId: id,
    orgSlug: slug,
    orgName: expect.any(String),
    externalId: id,
  });
  const viewer = { activeOrganization: shown(first), role: "viewer", permissions: permissionsOf("viewer") };
  const admin = { activeOrganization: shown(second), role: "admin", permissions: permissionsOf("admin") };
  expect(await sessionOf(second.id)).toEqual(admin);
  expect(await sessionOf(first.id)).toEqual(viewer);
  const foreign = await seedOrganization(database.db);
  for (const id of [null, foreign.id]) expect(await sessionOf(id)).toEqual(viewer);
  await database.db.update(member).set({ role: "emperor" }).where(eq(member.id, joined.id));
  const none = { activeOrganization: null, role: null, permissions: [] };
  expect(await sessionOf(second.id)).toEqual(none);
  const nobody = await seedUser(database.db);
  const without = getSessionAccess({ ctx: as(nobody.actor), input: { organizationId: first.id } });
  expect(await without).toEqual(none);
});

test("AUTH-10 the display name", () => {
  expect(displayNameOf({ firstName: "Ada", lastName: "Byron", email: "a@b" })).toBe("Ada Byron");
  expect(displayNameOf({ firstName: null, lastName: "Byron", email: "a@b" })).toBe("Byron");
  expect(displayNameOf({ firstName: null, lastName: "", email: "ada@b.example" })).toBe("ada");
});

test("the operator's organization `local` is created once; only the first account becomes its owner", async () => {
  const own = await createTestDatabase();
  const ctx = (actor: Actor) => testContext(own.db, actor);
  try {
    const made = await Promise.all(Array.from({ length: 4 }, () => ensureLocalOrganization({ ctx: ctx(operator) })));
    expect(new Set(made.map((each) => each.id)).size).toBe(1);
    expect(made[0]?.slug).toBe("local");
    const [ada, bob] = [await seedUser(own.db, { createdAt: new Date(0) }), await seedUser(own.db)];
    expect(await refusalCode(ensureLocalOrganization({ ctx: ctx(ada.actor) }))).toBe("forbidden");
    expect(await refusalCode(claimLocalOrganization({ ctx: ctx(ada.actor), input: { userId: ada.id } }))).toBe(
      "forbidden",
    );
    const claim = (userId: string) => claimLocalOrganization({ ctx: ctx(operator), input: { userId } });
    expect(await claim(bob.id)).toBeNull();
    const claims = await Promise.all([ada, bob, ada].map((each) => claim(each.id)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect((await own.db.select().from(member)).map((each) => each.userId)).toEqual([ada.id]);
  } finally {
    await own.close();
  }
});

test("`local` belongs to the first account immediately if there are accounts", async () => {
  const own = await createTestDatabase();
  try {
    const [ada, bob] = [await seedUser(own.db, { createdAt: new Date(0) }), await seedUser(own.db)];
    const ctx = testContext(own.db, operator);
    await ensureLocalOrganization({ ctx });
    expect(await claimLocalOrganization({ ctx, input: { userId: bob.id } })).toBeNull();
    expect((await own.db.select().from(member)).map((each) => each.userId)).toEqual([ada.id]);
  } finally {
    await own.close();
  }
});

test("without `local` the operator's organization is the oldest one", async () => {
  const own = await createTestDatabase();
  try {
    const id = newId();
    await own.db.insert(organization).values({ id, slug: "acme", name: "Acme" });
    const found = await ensureLocalOrganization({ ctx: testContext(own.db, operator) });
    expect(found).toEqual({ id, slug: "acme", name: "Acme" });
  } finally {
    await own.close();
  }
});

test("ORG-4 an organization gets another name and address; taken, reserved and odd ones are refused", async () => {
  const [org, other] = [await seedOrganization(database.db), await seedOrganization(database.db)];
  const change = (actor: Actor, input: { name?: string; slug?: string }, orgSlug = org.slug) =>
    updateOrganization({ ctx: as(actor), input: { orgSlug, ...input } });
  const slug = `new-${org.slug}`;
  expect(await change(org.owner, { name: "  New Name ", slug })).toEqual({ id: org.id, name: "New Name", slug });
  expect(await refusalCode(change(org.owner, { name: "x" }))).toBe("forbidden");
  for (const wrong of [other.slug, "login", "Upper", "a--b", "-a", "a", "x".repeat(41), "a/b", "ä"]) {
    const refused = await refusal(change(org.owner, { slug: wrong }, slug));
    expect([wrong, refused.code, Object.keys(refused.fields)]).toEqual([wrong, "invalid_input", ["slug"]]);
  }
  for (const actor of [await org.join("member"), other.owner])
    expect(await refusalCode(change(actor, { name: "Mine" }, slug))).toBe("forbidden");
  await change(org.owner, { name: "New Name", slug }, slug);
  const entries = await database.db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.organizationId, org.id), eq(auditLog.action, "organization.update")));
  expect(entries.map(({ detail }) => detail)).toEqual([
    { name: { from: `Org ${org.slug}`, to: "New Name" }, slug: { from: org.slug, to: slug } },
  ]);
});

test("ORG-4 two organizations that want one address at once don't both get it", async () => {
  const organizations = await Promise.all([1, 2, 3].map(() => seedOrganization(database.db)));
  const slug = `contested-${newId().slice(-12)}`;
  const changes = organizations.map(({ owner, slug: orgSlug }) =>
    updateOrganization({ ctx: as(owner), input: { orgSlug, slug } }),
  );
  const outcomes = await Promise.allSettled(changes);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("ORG-11 profiles of an organization's members, by its id, for its members only", async () => {
  const org = await seedOrganization(database.db);
  const viewer = await org.join("viewer");
  const read = (actor: Actor, organizationId = org.id) =>
    listUserProfiles({ ctx: as(actor), input: { organizationId } });
  const profiles = await read(viewer);
  const ids = [org.owner, viewer].map((actor) => (actor.kind === "user" ? actor.userId : ""));
  expect(profiles.map(({ id }) => id)).toEqual(ids);
  const fields = ["id", "firstName", "lastName", "displayName", "email", "profilePictureUrl"];
  expect(Object.keys(profiles[0] ?? {})).toEqual(fields);
  const stranger = await seedUser(database.db);
  for (const id of [org.id, newId(), "x"]) expect(await refusalCode(read(stranger.actor, id))).toBe("forbidden");
});

test("ORG-11 profiles by users' ids are those of people with whom one shares an organization", async () => {
  const [org, other] = [await seedOrganization(database.db), await seedOrganization(database.db)];
  const colleague = await org.join("viewer");
  const id = (actor: Actor) => (actor.kind === "user" ? actor.userId : "");
  const asked = [id(org.owner), id(colleague), id(other.owner), newId()];
  const read = (actor: Actor, userIds: string[] = asked) => getUserProfiles({ ctx: as(actor), input: { userIds } });
  expect((await read(colleague)).map((each) => each.id).toSorted()).toEqual([id(org.owner), id(colleague)].toSorted());
  expect((await read(other.owner)).map((each) => each.id)).toEqual([id(other.owner)]);
  await database.db.delete(member).where(eq(member.userId, id(colleague)));
  expect(await read(colleague)).toEqual([]);
  expect(await refusalCode(read(org.owner, ["x"]))).toBe("invalid_input");
  expect(await refusalCode(read(org.owner, Array.from({ length: 201 }, newId)))).toBe("invalid_input");
  expect(await refusalCode(read(operator))).toBe("forbidden");
});
