import { type QueryClient, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import type { SecretView } from "@towpath/core/projects/secret";
import { buildQuery } from "~/features/project/delivery/build.functions.ts";
import { type BranchItem, branchesQuery } from "~/features/project/delivery/deployment.functions.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

/** Variables that a branch's newest build lacked and that aren't set yet. */
export type Missing = { readonly branch: string; readonly buildId: string; readonly keyNames: readonly string[] };

/** A project may have many branches, and each build is a request. As many as `useMissingVariables` has queries. */
const maxBuilds = 3;

/** Branches whose newest build failed, the default one first. */
const failedOf = (branches: readonly BranchItem[]) =>
  branches
    .flatMap(({ name, isDefault, latestBuild }) =>
      latestBuild?.status === "failed" ? [{ name, isDefault, buildId: latestBuild.id }] : [],
    )
    .toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault))
    .slice(0, maxBuilds);

/** Prefetches the queries of `useMissingVariables`, so that its form has the names from the start. */
export async function loadMissingVariables(queryClient: QueryClient, key: ProjectKey): Promise<void> {
  const branches = await queryClient.ensureQueryData(branchesQuery(key));
  await Promise.all(failedOf(branches).map(({ buildId }) => queryClient.prefetchQuery(buildQuery(key, buildId))));
}

/** The variables that failed builds named and that their environments still lack. */
export function useMissingVariables(key: ProjectKey, stored: readonly SecretView[]): readonly Missing[] {
  const { data: branches } = useSuspenseQuery(branchesQuery(key));
  const failed = failedOf(branches);
  // Not suspended: a build that fails while somebody types must not remove the form.
  const queryOf = (index: number) => ({
    ...buildQuery(key, failed[index]?.buildId ?? ""),
    enabled: failed[index] !== undefined,
  });
  const builds = [useQuery(queryOf(0)), useQuery(queryOf(1)), useQuery(queryOf(2))];
  return failed.flatMap(({ name, isDefault, buildId }, index) => {
    const action = builds[index]?.data?.diagnosis?.action;
    if (action?.kind !== "variables") return [];
    const environment = isDefault ? "production" : "preview";
    const known = stored.filter(({ environments }) => environments.includes(environment));
    const keyNames = action.names.filter((each) => !known.some(({ keyName }) => keyName === each));
    return keyNames.length === 0 ? [] : [{ branch: name, buildId, keyNames }];
  });
}
