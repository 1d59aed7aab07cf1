import { currentRelease } from "@towpath/db/release";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { refusalCode, seedOrganization, testContext } from "../../testing/index.ts";
import { getRelease } from "./index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test("OPS-3 members of an organization see the release that runs, strangers don't", async () => {
  const organization = await seedOrganization(database.db);
  const stranger = await seedOrganization(database.db);
  const input = { orgSlug: organization.slug };
  const viewer = testContext(database.db, await organization.join("viewer"));
  expect(await getRelease({ ctx: viewer, input })).toEqual(currentRelease());
  expect(await refusalCode(getRelease({ ctx: testContext(database.db, stranger.owner), input }))).toBe("forbidden");
});
