import { QueryClient } from "@tanstack/react-query";
import { isRedirect } from "@tanstack/react-router";
import { expect, test } from "vitest";
import { requireProfile } from "./guards.ts";
import { currentAuthQuery, profileQuery } from "./session.functions.ts";

test("AUTH-7 a user without a profile is sent to /", async () => {
  const queryClient = new QueryClient();
  const auth = { user: { id: "u" }, organizationId: null, activeOrganization: null, role: null, permissions: [] };
  queryClient.setQueryData(currentAuthQuery.queryKey, auth as never);
  queryClient.setQueryData(profileQuery.queryKey, null);
  const call = { context: { queryClient }, location: { href: "/acme/servers" } };
  const thrown = await requireProfile(call).catch((error: unknown) => error);
  expect(isRedirect(thrown) && thrown.options.to).toBe("/");
});
