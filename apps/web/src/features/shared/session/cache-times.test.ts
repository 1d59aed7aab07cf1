import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { buildQuery, buildsQuery } from "~/features/project/delivery/build.functions.ts";
import { branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import { projectQuery } from "~/features/shared/project-screen/project-screen.functions.ts";
import { currentAuthQuery, organizationQuery, profileQuery } from "./session.functions.ts";

const minute = 60_000;
const project = { orgSlug: "acme", projectName: "echo-server" };

test.each([
  ["auth data", currentAuthQuery, 5, 30],
  ["the organization route", organizationQuery("acme"), 2, 5],
  ["a project", projectQuery(project), 2, 5],
  ["a project's builds", buildsQuery(project), 2, 5],
  ["a project's build", buildQuery(project, "0192b0f4-7b7a-7c3c-8f00-000000000001"), 2, 5],
  ["a project's branches", branchesQuery(project), 2, 5],
])("AUTH-9 %s: fresh and kept, minutes", (_what, { staleTime, gcTime }, fresh, kept) => {
  expect([staleTime, gcTime]).toEqual([fresh * minute, kept * minute]);
});

test("AUTH-9 the profile is fresh for two minutes", () => {
  expect(profileQuery.staleTime).toBe(2 * minute);
});

test("AUTH-9 within that time nothing is refetched; unused data is dropped when its time is over", async () => {
  vi.useFakeTimers();
  const client = new QueryClient();
  let fetches = 0;
  const auth = { ...currentAuthQuery, queryFn: () => ++fetches } as never;
  const visit = async () => {
    const leave = new QueryObserver(client, auth).subscribe(() => {});
    await vi.advanceTimersByTimeAsync(0);
    leave();
  };
  await visit();
  await vi.advanceTimersByTimeAsync(5 * minute - 1000);
  await visit();
  expect(fetches).toBe(1);
  await vi.advanceTimersByTimeAsync(2000);
  await visit();
  expect(fetches).toBe(2);
  await vi.advanceTimersByTimeAsync(29 * minute);
  expect(client.getQueryData(currentAuthQuery.queryKey)).toBe(2);
  await vi.advanceTimersByTimeAsync(2 * minute);
  expect(client.getQueryData(currentAuthQuery.queryKey)).toBeUndefined();
  vi.useRealTimers();
});
