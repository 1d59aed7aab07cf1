import { z } from "zod";
import type { AppCredentials, TokenScope } from "./app-credentials.ts";
import type { GitHub, GitHubConfig, RepositoryAddress } from "./contract.ts";
import {
  gitHubBranchSchema,
  gitHubBranchSummarySchema,
  gitHubCommitSchema,
  gitHubPullRequestSchema,
  gitHubRepositorySchema,
} from "./github.schema.ts";
import { apiPath, type JsonResponse, nextFromLink, requestJson } from "./request.ts";

/** Permissions for reading a repository's contents. */
export const readOnly = { metadata: "read", contents: "read" } as const;

export type RepositoryReader = {
  /** GET with a token of the scope. */
  get<Schema extends z.ZodType>(
    scope: TokenScope,
    path: string,
    schema: Schema,
  ): Promise<JsonResponse<z.infer<Schema>>>;
  /** GET of a path below a repository, with a token that can read only that repository (GH-2). */
  getOf<Schema extends z.ZodType>(
    address: RepositoryAddress,
    path: string,
    schema: Schema,
  ): Promise<JsonResponse<z.infer<Schema>>>;
};

export function createRepositoryReader(config: GitHubConfig, credentials: AppCredentials): RepositoryReader {
  function get<Schema extends z.ZodType>(
    scope: TokenScope,
    path: string,
    schema: Schema,
  ): Promise<JsonResponse<z.infer<Schema>>> {
    const url = config.apiUrl + path;
    return credentials.withInstallationToken(scope, (authorization) =>
      requestJson({ method: "GET", url, authorization }, schema),
    );
  }

  return {
    get,
    async getOf({ installationId, owner, name }, path, schema) {
      const scope = { installationId, repository: { name }, permissions: readOnly };
      return get(scope, apiPath("repos", owner, name) + path, schema);
    },
  };
}

const repositoriesSchema = z.object({ repositories: z.array(gitHubRepositorySchema) });

type RepositoryCalls = Pick<
  GitHub,
  | "repositories"
  | "repository"
  | "repositoryById"
  | "branches"
  | "branch"
  | "pullRequestsFrom"
  | "pullRequest"
  | "commit"
>;

const nextPage = (link: string | null, page: number) => (nextFromLink(link, "page") === null ? null : page + 1);

/** Reads repositories, branches and commits as an installation. */
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
    async pullRequest({ installationId, owner, name }, number) {
      const permissions = { metadata: "read", pull_requests: "read" } as const;
      const scope = { installationId, repository: { name }, permissions };
      return (await get(scope, apiPath("repos", owner, name, "pulls", number), gitHubPullRequestSchema)).value;
    },
    async commit(address, ref) {
      return (await getOf(address, apiPath("commits", ref), gitHubCommitSchema)).value;
    },
  };
}
