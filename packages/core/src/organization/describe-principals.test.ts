import { apikey, member } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newId } from "../ids/index.ts";
import { refusalCode, seedOrganization, seedUser, testContext } from "../testing/index.ts";
import { describePrincipals } from "./index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

async function withKey(organizationId: string, name: string): Promise<string> {
  const id = newId();
  await database.db.insert(apikey).values({ id, organizationId, name, hash: id });
  return `key:${id}`;
}

test("PRJ-6 principals are members by name and e-mail, keys by name, and nobody else's", async () => {
  const { db } = database;
  const own = await seedOrganization(db);
  const other = await seedOrganization(db);
  const ada = await seedUser(db);
  await db.insert(member).values({ id: newId(), organizationId: own.id, userId: ada.id, role: "viewer" });
  const stranger = await seedUser(db);
  const [key, foreignKey] = [await withKey(own.id, "CI"), await withKey(other.id, "Theirs")];
  const user = `user:${ada.id}`;
  const principals = [user, key, foreignKey, `user:${stranger.id}`, "admin", "anonymous", "user:x", "odd"];
  const describe = async () => {
    const views = await describePrincipals({
      ctx: testContext(db, ada.actor),
      input: { orgSlug: own.slug, principals },
    });
    return principals.map((id) => [views.get(id)?.kind, views.get(id)?.name, views.get(id)?.email]);
  };
  const named = await describe();
  expect(named[0]?.[0]).toBe("user");
  expect(named[0]?.[2]).toContain("@");
  expect(named.slice(1)).toEqual([
    ["key", "CI", null],
    ["key", "Deleted API key", null],
    ["user", "Former member", null],
    ["admin", "Admin", null],
    ["anonymous", "Anonymous", null],
    ["user", "Former member", null],
    ["other", "odd", null],
  ]);
  await db.delete(member).where(and(eq(member.userId, ada.id), eq(member.organizationId, own.id)));
  expect(await refusalCode(describe())).toBe("forbidden");
});
