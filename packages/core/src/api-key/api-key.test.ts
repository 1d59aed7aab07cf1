import { hashApiKey, verifyApiKey } from "@towpath/auth/credentials";
import { apikey, auditLog } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Actor } from "../context/index.ts";
import { refusalCode, type SeededOrganization, seedOrganization, testContext } from "../testing/index.ts";
import { createApiKey, deleteApiKey, listApiKeys, revokeApiKey } from "./index.ts";

let database: TestDatabase;
let team: SeededOrganization;
let others: SeededOrganization;
beforeAll(async () => {
  database = await createTestDatabase();
  team = await seedOrganization(database.db);
  others = await seedOrganization(database.db);
});
afterAll(() => database.close());

const as = (actor: Actor) => testContext(database.db, actor);

test("KEY-3 a key is shown once, stored as a hash, and valid until revoked", async () => {
  const ctx = as(team.owner);
  const made = await createApiKey({ ctx, input: { orgSlug: team.slug, name: " CI " } });
  expect(made.key).toMatch(/^tp_[0-9A-Za-z]{49}$/);
  expect(made).toMatchObject({ name: "CI", status: "active", expiresAt: null, lastUsedAt: null });
  expect(made.key.startsWith(made.start)).toBe(true);
  const [row] = await database.db.select().from(apikey).where(eq(apikey.id, made.id));
  expect(row?.hash).toBe(hashApiKey(made.key));
  expect(JSON.stringify(row)).not.toContain(made.key);
  expect(JSON.stringify(await listApiKeys({ ctx, input: { orgSlug: team.slug } }))).not.toContain(made.key);
  expect(await verifyApiKey(database.pool, made.key)).toEqual({ keyId: made.id, organizationId: team.id });
  const [listed] = await listApiKeys({ ctx, input: { orgSlug: team.slug } });
  expect(listed?.lastUsedAt).not.toBeNull();
  const scope = { orgSlug: team.slug, keyId: made.id };
  expect(await revokeApiKey({ ctx, input: scope })).toMatchObject({ status: "revoked" });
  expect(await verifyApiKey(database.pool, made.key)).toBeNull();
  await deleteApiKey({ ctx, input: scope });
  expect(await listApiKeys({ ctx, input: { orgSlug: team.slug } })).toEqual([]);
  const audits = await database.db.select().from(auditLog).where(eq(auditLog.organizationId, team.id));
  expect(audits.map((each) => each.action)).toEqual(["apiKey.create", "apiKey.revoke", "apiKey.delete"]);
  expect(JSON.stringify(audits)).not.toContain(made.key);
});

test("KEY-3 a key expires", async () => {
  const later = { now: () => new Date(Date.now() + 8 * 86_400_000) };
  const made = await createApiKey({
    ctx: as(team.owner),
    input: { orgSlug: team.slug, name: "week", expiresInDays: 7 },
  });
  expect(made.status).toBe("active");
  const ctx = testContext(database.db, team.owner, { clock: later });
  const [listed] = await listApiKeys({ ctx, input: { orgSlug: team.slug } });
  expect(listed).toMatchObject({ id: made.id, status: "expired" });
});

test("KEY-3 members can revoke and delete their own keys, admins all, other organizations none", async () => {
  const member = await team.join("member");
  const colleague = await team.join("member");
  const made = await createApiKey({ ctx: as(member), input: { orgSlug: team.slug, name: "mine" } });
  const scope = { orgSlug: team.slug, keyId: made.id };
  expect(await refusalCode(revokeApiKey({ ctx: as(colleague), input: scope }))).toBe("forbidden");
  expect(await refusalCode(deleteApiKey({ ctx: as(colleague), input: scope }))).toBe("forbidden");
  expect(await refusalCode(revokeApiKey({ ctx: as(others.owner), input: scope }))).toBe("forbidden");
  const crossed = { orgSlug: others.slug, keyId: made.id };
  expect(await refusalCode(revokeApiKey({ ctx: as(others.owner), input: crossed }))).toBe("not_found");
  expect(await refusalCode(deleteApiKey({ ctx: as(others.owner), input: crossed }))).toBe("not_found");
  expect(await refusalCode(revokeApiKey({ ctx: as(team.owner), input: { ...scope, keyId: "x" } }))).toBe("not_found");
  const viewer = await team.join("viewer");
  expect(await refusalCode(listApiKeys({ ctx: as(viewer), input: { orgSlug: team.slug } }))).toBe("forbidden");
  const asViewer = createApiKey({ ctx: as(viewer), input: { orgSlug: team.slug, name: "no" } });
  expect(await refusalCode(asViewer)).toBe("forbidden");
  expect(await refusalCode(createApiKey({ ctx: as(member), input: { orgSlug: team.slug, name: "" } }))).toBe(
    "invalid_input",
  );
  expect(await revokeApiKey({ ctx: as(member), input: scope })).toMatchObject({ status: "revoked" });
  await deleteApiKey({ ctx: as(await team.join("admin")), input: scope });
});
