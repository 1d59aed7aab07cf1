import { currentRelease } from "@towpath/db/release";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { refusalCode, seedOrganization, testContext } from "../../testing/index.ts";
import { getRelease } from "./index.ts";

const database = openTestDatabase();

test("OPS-3 members of an organization see the release that runs, strangers don't", async () => {
  const organization = await seedOrganization(database.db);
  const stranger = await seedOrganization(database.db);
  const input = { orgSlug: organization.slug };
  const viewer = testContext(database.db, await organization.join("viewer"));
  expect(await getRelease({ ctx: viewer, input })).toEqual(currentRelease());
  expect(await refusalCode(getRelease({ ctx: testContext(database.db, stranger.owner), input }))).toBe("forbidden");
});
