import { hashApiKey, verifyApiKey } from "@towpath/auth/credentials";
import { apikey, auditLog, member, project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { openOrganization, refusal, refusalCode, seedProject, testContext } from "../../testing/index.ts";
import { createApiKey, deleteApiKey, listApiKeys, listPersonalApiKeys, revokeApiKey } from "./index.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });
const others = openOrganization(database);

const as = (actor: Actor) => testContext(database.db, actor);
const idOf = (actor: Actor) => (actor.kind === "user" ? actor.userId : "");
const ofOrganization = () => ({ orgSlug: organization.slug });
const create = (actor: Actor, more: object = {}, kind: "personal" | "organization" = "organization") =>
  createApiKey({ ctx: as(actor), input: { ...ofOrganization(), kind, name: "key", ...more } });

test("KEY-3 a key is shown once, stored as a hash, and valid until revoked", async () => {
  const ctx = as(organization.owner);
  const made = await create(organization.owner, { name: " CI " });
  expect(made.key).toMatch(/^tp_[0-9A-Za-z]{49}$/);
  expect(made).toMatchObject({
    kind: "organization",
    name: "CI",
    status: "active",
    owner: null,
    createdBy: { id: idOf(organization.owner) },
    servers: null,
    expiresAt: null,
    lastUsedAt: null,
  });
  expect(made.key.startsWith(made.start)).toBe(true);
  const [row] = await database.db.select().from(apikey).where(eq(apikey.id, made.id));
  expect(row?.hash).toBe(hashApiKey(made.key));
  expect(JSON.stringify(row)).not.toContain(made.key);
  expect(JSON.stringify(await listApiKeys({ ctx, input: ofOrganization() }))).not.toContain(made.key);
  const grant = { keyId: made.id, organizationId: organization.id, userId: null, projectIds: null, mayManage: false };
  expect(await verifyApiKey(database.pool, made.key)).toEqual(grant);
  const [listed] = await listApiKeys({ ctx, input: ofOrganization() });
  expect(listed?.lastUsedAt).not.toBeNull();
  const scope = { ...ofOrganization(), keyId: made.id };
  expect(await revokeApiKey({ ctx, input: scope })).toMatchObject({ status: "revoked" });
  expect(await verifyApiKey(database.pool, made.key)).toBeNull();
  await deleteApiKey({ ctx, input: scope });
  expect(await listApiKeys({ ctx, input: ofOrganization() })).toEqual([]);
  const audits = await database.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.organizationId, organization.id))
    .orderBy(auditLog.id);
  expect(audits.map((each) => each.action)).toEqual(["apiKey.create", "apiKey.revoke", "apiKey.delete"]);
  expect(audits[0]?.detail).toEqual({
    name: "CI",
    start: made.start,
    kind: "organization",
    scope: "call",
    servers: "all",
    expiresAt: null,
  });
  expect(JSON.stringify(audits)).not.toContain(made.key);
});

test("KEY-3 OPS-4 a key only calls servers unless it was made to manage them, which lists and the audit log say", async () => {
  const [calling, managing] = [await create(organization.owner), await create(organization.owner, { scope: "manage" })];
  expect([calling.scope, managing.scope]).toEqual(["call", "manage"]);
  expect(await verifyApiKey(database.pool, calling.key)).toMatchObject({ mayManage: false });
  expect(await verifyApiKey(database.pool, managing.key)).toMatchObject({ mayManage: true });
  const listed = await listApiKeys({ ctx: as(organization.owner), input: ofOrganization() });
  expect(listed.map(({ scope }) => scope)).toEqual(["manage", "call"]);
  expect(await refusalCode(create(organization.owner, { scope: "everything" }))).toBe("invalid_input");
  // What a later version wrote.
  await database.db.update(apikey).set({ scope: "later" }).where(eq(apikey.id, managing.id));
  expect(await verifyApiKey(database.pool, managing.key)).toMatchObject({ mayManage: false });
});

test("KEY-3 a key expires", async () => {
  const later = { now: () => new Date(Date.now() + 8 * 86_400_000) };
  const made = await create(organization.owner, { expiresInDays: 7 });
  expect(made.status).toBe("active");
  const ctx = testContext(database.db, organization.owner, { clock: later });
  const [listed] = await listApiKeys({ ctx, input: ofOrganization() });
  expect(listed).toMatchObject({ id: made.id, status: "expired" });
});

test("KEY-3 a key may be limited to chosen servers of its organization, and never to those of others", async () => {
  const [one, two] = [await seedProject(database.db, organization), await seedProject(database.db, organization)];
  const theirs = await seedProject(database.db, others);
  const made = await create(organization.owner, { projectIds: [one.id, two.id, one.id] });
  const names = [one, two].map(({ id, name }) => ({ id, name })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(made.servers).toEqual(names);
  expect(await verifyApiKey(database.pool, made.key)).toMatchObject({ projectIds: [one.id, two.id] });
  for (const projectIds of [[one.id, theirs.id], [crypto.randomUUID()], [], ["x"]]) {
    const refused = await refusal(create(organization.owner, { projectIds }));
    expect([refused.code, Object.keys(refused.fields)[0]]).toEqual([
      "invalid_input",
      expect.stringMatching(/^projectIds/),
    ]);
  }
  // Without its servers a key can call nothing. It must not become a key for all.
  await database.db.delete(project).where(eq(project.organizationId, organization.id));
  const [listed] = await listApiKeys({ ctx: as(organization.owner), input: ofOrganization() });
  expect(listed?.servers).toEqual([]);
  expect(await verifyApiKey(database.pool, made.key)).toMatchObject({ projectIds: [one.id, two.id] });
});

test("KEY-3 members create keys that act as themselves; only admins create keys of the organization", async () => {
  const [person, admin, viewer] = [
    await organization.join("member"),
    await organization.join("admin"),
    await organization.join("viewer"),
  ];
  const own = await create(person, {}, "personal");
  expect(own).toMatchObject({ kind: "personal", owner: { id: idOf(person), name: "Ada Example" } });
  expect(await verifyApiKey(database.pool, own.key)).toMatchObject({ userId: idOf(person) });
  expect(await refusalCode(create(person))).toBe("forbidden");
  expect(await refusalCode(create(viewer, {}, "personal"))).toBe("forbidden");
  expect(await refusalCode(create(others.owner, {}, "personal"))).toBe("forbidden");
  expect(await refusalCode(create({ kind: "operator", ipAddress: null }, {}, "personal"))).toBe("forbidden");
  expect(await refusalCode(create(person, { name: "" }, "personal"))).toBe("invalid_input");
  expect(await refusalCode(create(person, { kind: "other" }))).toBe("invalid_input");
  expect((await create(admin)).owner).toBeNull();
  expect((await create({ kind: "operator", ipAddress: null })).createdBy).toBeNull();
});

test("KEY-3 personal keys are listed to their person and to admins, never among the organization's", async () => {
  const [person, colleague] = [await organization.join("member"), await organization.join("member")];
  const [mine, shared] = [await create(person, {}, "personal"), await create(organization.owner)];
  const idsOf = (keys: readonly { id: string }[]) => keys.map(({ id }) => id);
  const personal = (actor: Actor, of?: "everyone") =>
    listPersonalApiKeys({ ctx: as(actor), input: { ...ofOrganization(), ...(of && { of }) } });
  expect(idsOf(await personal(person))).toEqual([mine.id]);
  expect(await personal(colleague)).toEqual([]);
  expect(idsOf(await personal(organization.owner, "everyone"))).toEqual([mine.id]);
  expect(await refusalCode(personal(person, "everyone"))).toBe("forbidden");
  expect(await refusalCode(personal(others.owner))).toBe("forbidden");
  expect(idsOf(await listApiKeys({ ctx: as(person), input: ofOrganization() }))).toEqual([shared.id]);
  const viewer = await organization.join("viewer");
  expect(await refusalCode(listApiKeys({ ctx: as(viewer), input: ofOrganization() }))).toBe("forbidden");
  expect(await personal(viewer)).toEqual([]);
});

test("KEY-3 people end their own keys in any role, admins end all, other organizations none", async () => {
  const [person, colleague] = [await organization.join("member"), await organization.join("member")];
  const [mine, shared] = [await create(person, {}, "personal"), await create(organization.owner)];
  const scope = { ...ofOrganization(), keyId: mine.id };
  for (const end of [revokeApiKey, deleteApiKey]) {
    expect(await refusalCode(end({ ctx: as(colleague), input: scope }))).toBe("not_found");
    expect(await refusalCode(end({ ctx: as(person), input: { ...scope, keyId: shared.id } }))).toBe("forbidden");
    expect(await refusalCode(end({ ctx: as(others.owner), input: scope }))).toBe("forbidden");
    const crossed = { orgSlug: others.slug, keyId: mine.id };
    expect(await refusalCode(end({ ctx: as(others.owner), input: crossed }))).toBe("not_found");
    expect(await refusalCode(end({ ctx: as(organization.owner), input: { ...scope, keyId: "x" } }))).toBe("not_found");
  }
  await database.db
    .update(member)
    .set({ role: "viewer" })
    .where(eq(member.userId, idOf(person)));
  expect(await revokeApiKey({ ctx: as(person), input: scope })).toMatchObject({ status: "revoked" });
  await deleteApiKey({ ctx: as(await organization.join("admin")), input: scope });
  expect(await listPersonalApiKeys({ ctx: as(person), input: ofOrganization() })).toEqual([]);
});

test("KEY-3 a person's keys are revoked when they leave, and stay revoked when they join again", async () => {
  const person = await organization.join("member");
  const [mine, shared] = [await create(person, {}, "personal"), await create(organization.owner)];
  const elsewhere = { id: crypto.randomUUID(), organizationId: others.id, userId: idOf(person), role: "member" };
  await database.db.insert(member).values(elsewhere);
  const kept = await createApiKey({ ctx: as(person), input: { orgSlug: others.slug, kind: "personal", name: "k" } });
  const membership = and(eq(member.organizationId, organization.id), eq(member.userId, idOf(person)));
  const [row] = await database.db.delete(member).where(membership).returning();
  expect(await verifyApiKey(database.pool, mine.key)).toBeNull();
  if (row) await database.db.insert(member).values(row);
  expect(await verifyApiKey(database.pool, mine.key)).toBeNull();
  const [listed] = await listPersonalApiKeys({ ctx: as(person), input: ofOrganization() });
  expect(listed).toMatchObject({ id: mine.id, status: "revoked" });
  expect(await verifyApiKey(database.pool, kept.key)).not.toBeNull();
  expect(await verifyApiKey(database.pool, shared.key)).not.toBeNull();
});
