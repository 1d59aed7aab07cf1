import { expect, test } from "vitest";
import { currentAuthQuery, organizationQuery, profileQuery } from "./session.queries.ts";

const minute = 60_000;

test("AUTH-9 how long what is known of the session counts as fresh, and is kept", () => {
  expect([currentAuthQuery.staleTime, currentAuthQuery.gcTime]).toEqual([5 * minute, 30 * minute]);
  expect(profileQuery.staleTime).toBe(2 * minute);
  const organization = organizationQuery("acme");
  expect([organization.staleTime, organization.gcTime]).toEqual([2 * minute, 5 * minute]);
});
