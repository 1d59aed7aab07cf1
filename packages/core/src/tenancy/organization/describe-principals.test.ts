import { apikey, member, user } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../ids/index.ts";
import { refusalCode, seedOrganization, seedUser, testContext } from "../../testing/index.ts";
import { describePrincipals, findPrincipals } from "./index.ts";

const database = openTestDatabase();

async function withKey(organizationId: string, name: string): Promise<string> {
  const id = newId();
  await database.db.insert(apikey).values({ id, organizationId, name, hash: id });
  return `key:${id}`;
}

test("PRJ-6 principals are members by name and email, keys by name, and nobody else's", async () => {
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

test("PRJ-5 PRJ-6 principals are found by email address, by name, and as they are logged; nobody else's", async () => {
  const { db } = database;
  const own = await seedOrganization(db);
  const ada = await seedUser(db);
  await db.insert(member).values({ id: newId(), organizationId: own.id, userId: ada.id, role: "viewer" });
  const [person] = await db.select().from(user).where(eq(user.id, ada.id));
  const stranger = await seedUser(db);
  const [strange] = await db.select().from(user).where(eq(user.id, stranger.id));
  const key = await withKey(own.id, "Nightly CI");
  await withKey((await seedOrganization(db)).id, "Theirs");
  const find = (text: string) =>
    findPrincipals({ ctx: testContext(db, ada.actor), input: { orgSlug: own.slug, text } });
  expect(await find(` ${person?.email.toUpperCase()} `)).toEqual([`user:${ada.id}`]);
  expect(await find("nightly ci")).toEqual([key]);
  await db.update(user).set({ firstName: "Ada", lastName: "Lovelace" }).where(eq(user.id, ada.id));
  expect(await find("ada lovelace")).toEqual([`user:${ada.id}`]);
  for (const text of ["anonymous", "admin", "key:x", `user:${stranger.id}`]) expect(await find(text)).toEqual([text]);
  for (const text of ["Theirs", strange?.email ?? "", "", "%"])
    await expect(find(text)).rejects.toThrow("No member and no API key of this organization");
  await db.delete(member).where(eq(member.userId, ada.id));
  expect(await refusalCode(find("anonymous"))).toBe("forbidden");
});
