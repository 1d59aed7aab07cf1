import { QueryClient } from "@tanstack/react-query";
import { isRedirect } from "@tanstack/react-router";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { Route } from "~/routes/$orgSlug/$projectName/route.tsx";
import { requireOrganization, requireProfile } from "./guards.ts";
import { currentAuthQuery, organizationQuery, profileQuery } from "./session.functions.ts";

const minute = 60_000;
const acme = { id: "o", slug: "acme", name: "Acme", externalId: "o", role: "owner" };
const auth = { user: { id: "u" }, organizationId: "o", activeOrganization: null, role: null, permissions: [] };
const projectKey = { orgSlug: "acme", projectName: "echo-one" };
let queryClient: QueryClient;

beforeEach(() => {
  vi.useFakeTimers();
  queryClient = new QueryClient();
});
afterEach(() => void vi.useRealTimers());

const know = (queryKey: readonly unknown[], data: unknown) => queryClient.setQueryData(queryKey, data);
const location = { href: "/acme/echo-one/logs" };

test("AUTH-7 a user without a profile is sent to /", async () => {
  know(currentAuthQuery.queryKey, auth);
  know(profileQuery.queryKey, null);
  const thrown = await requireProfile({ context: { queryClient }, location }).catch((error: unknown) => error);
  expect(isRedirect(thrown) && thrown.options.to).toBe("/");
});

/** Everything that the guards of a project's page read, each as new as can be. */
const known = {
  auth: () => know(currentAuthQuery.queryKey, auth),
  profile: () => know(profileQuery.queryKey, { id: "u", organizations: [acme] }),
  organization: () => know(organizationQuery("acme").queryKey, acme),
  project: () => know(projectQuery(projectKey).queryKey, { orgSlug: "acme", name: "echo-one" }),
};
const keys: Readonly<Record<keyof typeof known, readonly unknown[]>> = {
  auth: currentAuthQuery.queryKey,
  profile: profileQuery.queryKey,
  organization: organizationQuery("acme").queryKey,
  project: projectQuery(projectKey).queryKey,
};

/** Opens the page; returns its guards' requests to the server. */
async function fetchedByGuards(): Promise<string[]> {
  const fetched: string[] = [];
  const stop = queryClient.getQueryCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "fetch") return;
    fetched.push(JSON.stringify(event.query.queryKey));
  });
  const call = { context: { queryClient }, location, params: projectKey, matches: [] };
  const guards = async () => {
    await requireOrganization(call);
    await Route.options.beforeLoad?.(call as never);
  };
  // There is no server to read from.
  await Promise.race([guards().catch(() => {}), vi.advanceTimersByTimeAsync(1000)]);
  stop();
  return fetched;
}

test.each([
  ["auth", 5],
  ["profile", 2],
  ["organization", 2],
  ["project", 2],
] as const)("AUTH-9 guards read the %s again after %i minutes, not before", async (what, minutes) => {
  known[what]();
  await vi.advanceTimersByTimeAsync(minutes * minute - 2000);
  for (const [other, make] of Object.entries(known)) if (other !== what) make();
  expect(await fetchedByGuards()).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  expect((await fetchedByGuards())[0]).toBe(JSON.stringify(keys[what]));
});

test("ERR-1 AUTH-8 people removed from the organization on screen are refused, not redirected to another", async () => {
  for (const make of Object.values(known)) make();
  const other = { ...acme, id: "p", slug: "other" };
  know(profileQuery.queryKey, { id: "u", organizations: [other] });
  know(organizationQuery("other").queryKey, other);
  const call = { context: { queryClient }, location, params: projectKey, matches: [] };
  await expect(requireOrganization(call)).rejects.toMatchObject({ code: "forbidden" });
  queryClient.removeQueries({ queryKey: organizationQuery("acme").queryKey });
  const led = await requireOrganization(call).catch((error: unknown) => error);
  expect(isRedirect(led) && led.options.href).toBe("/other/echo-one/logs");
});
