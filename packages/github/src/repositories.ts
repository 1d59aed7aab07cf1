import { z } from "zod";
import type { GitHub } from "./contract.ts";
import {
  gitHubBranchSchema,
  gitHubBranchSummarySchema,
  gitHubCommitSchema,
  gitHubPullRequestSchema,
  gitHubRepositorySchema,
} from "./github.schema.ts";
import { type RepositoryReader, readOnly } from "./repository-reader.ts";
import { apiPath, nextFromLink } from "./request.ts";

const repositoriesSchema = z.object({ repositories: z.array(gitHubRepositorySchema) });

type RepositoryCalls = Pick<
  GitHub,
  "repositories" | "repository" | "repositoryById" | "branches" | "branch" | "pullRequestsFrom" | "commit"
>;

const nextPage = (link: string | null, page: number) => (nextFromLink(link, "page") === null ? null : page + 1);

/** Repositories, branches and commits, read as an installation. */
export function createRepositoryCalls({ get, getOf }: RepositoryReader): RepositoryCalls {
  return {
    async repositories(installationId, page = 1) {
      const scope = { installationId, permissions: { metadata: "read" } } as const;
      const path = `/installation/repositories?per_page=100&page=${page}`;
      const { value, link } = await get(scope, path, repositoriesSchema);
      return { items: value.repositories, nextPage: nextPage(link, page) };
    },
    async repository(address) {
      return (await getOf(address, "", gitHubRepositorySchema)).value;
    },
    async repositoryById(installationId, repositoryId) {
      const scope = { installationId, repository: { id: repositoryId }, permissions: readOnly };
      return (await get(scope, apiPath("repositories", repositoryId), gitHubRepositorySchema)).value;
    },
    async branches(address, page = 1) {
      const path = `/branches?per_page=100&page=${page}`;
      const { value, link } = await getOf(address, path, z.array(gitHubBranchSummarySchema));
      return { items: value, nextPage: nextPage(link, page) };
    },
    async branch(address, name) {
      return (await getOf(address, apiPath("branches", name), gitHubBranchSchema)).value;
    },
    async pullRequestsFrom({ installationId, owner, name }, branch) {
      const permissions = { metadata: "read", pull_requests: "read" } as const;
      const query = new URLSearchParams({ head: `${owner}:${branch}`, state: "all", per_page: "100" });
      const path = `${apiPath("repos", owner, name, "pulls")}?${query}`;
      const scope = { installationId, repository: { name }, permissions };
      return (await get(scope, path, z.array(gitHubPullRequestSchema))).value;
    },
    async commit(address, ref) {
      return (await getOf(address, apiPath("commits", ref), gitHubCommitSchema)).value;
    },
  };
}
