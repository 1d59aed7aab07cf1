import type { RepositoryAddress } from "@towpath/core/ports";
import { z } from "zod";
import type { AppCredentials, TokenScope } from "./app-credentials.ts";
import type { GitHub, GitHubConfig } from "./contract.ts";
import {
  gitHubBranchSchema,
  gitHubBranchSummarySchema,
  gitHubCommitSchema,
  gitHubPullRequestSchema,
  gitHubRepositorySchema,
} from "./github.schema.ts";
import { apiPath, type JsonResponse, nextFromLink, requestIfChanged, requestJson } from "./request.ts";

/** Permissions for reading a repository's contents. */
export const readOnly = { metadata: "read", contents: "read" } as const;

export type RepositoryReader = {
  /** GET with a token of the scope. */
  get<Schema extends z.ZodType>(
    scope: TokenScope,
    path: string,
    schema: Schema,
  ): Promise<JsonResponse<z.infer<Schema>>>;
  /** The same; null: not modified. */
  getIfChanged<Schema extends z.ZodType>(
    scope: TokenScope,
    path: string,
    schema: Schema,
    etag: string | null,
  ): ReturnType<typeof requestIfChanged<Schema>>;
  /** GET of a path below a repository, with a token that can read only that repository (GH-2). */
  getOf<Schema extends z.ZodType>(
    address: RepositoryAddress,
    path: string,
    schema: Schema,
  ): Promise<JsonResponse<z.infer<Schema>>>;
};

export function createRepositoryReader(config: GitHubConfig, credentials: AppCredentials): RepositoryReader {
  const { reach } = config;

  function get<Schema extends z.ZodType>(
    scope: TokenScope,
    path: string,
    schema: Schema,
  ): Promise<JsonResponse<z.infer<Schema>>> {
    const url = config.apiUrl + path;
    return credentials.withInstallationToken(scope, (authorization) =>
      requestJson({ reach, method: "GET", url, authorization }, schema),
    );
  }

  return {
    get,
    getIfChanged: (scope, path, schema, etag) =>
      credentials.withInstallationToken(scope, (authorization) =>
        requestIfChanged(
          {
            reach,
            method: "GET",
            url: config.apiUrl + path,
            authorization,
            ...(etag === null ? {} : { ifNoneMatch: etag }),
          },
          schema,
        ),
      ),
    async getOf({ installationId, owner, name }, path, schema) {
      const scope = { installationId, repository: { name }, permissions: readOnly };
      return get(scope, apiPath("repos", owner, name) + path, schema);
    },
  };
}

/** GitHub's limit. */
const headsPerPage = 100;
/** A thousand branches. */
const maxHeadPages = 10;

/** Joins the ETags of a repository's pages of heads. Null if a page has none. */
const etagOf = (etags: readonly (string | null)[]): string | null =>
  etags.includes(null) ? null : etags.length === 1 ? (etags[0] ?? null) : JSON.stringify(etags);

function etagsOf(etag: string | null): readonly string[] {
  if (etag === null) return [];
  return etag.startsWith("[") ? z.array(z.string()).catch([]).parse(JSON.parse(etag)) : [etag];
}

const repositoriesSchema = z.object({ repositories: z.array(gitHubRepositorySchema) });

type RepositoryCalls = Pick<
  GitHub,
  | "repositories"
  | "repository"
  | "repositoryById"
  | "branches"
  | "heads"
  | "branch"
  | "pullRequestsFrom"
  | "pullRequest"
  | "commit"
>;

const nextPage = (link: string | null, page: number) => (nextFromLink(link, "page") === null ? null : page + 1);

/** Reads repositories, branches and commits as an installation. */
export function createRepositoryCalls({ get, getIfChanged, getOf }: RepositoryReader): RepositoryCalls {
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
    async heads(address, etag) {
      const { installationId, owner, name } = address;
      const scope = { installationId, repository: { name }, permissions: readOnly };
      const path = `${apiPath("repos", owner, name, "branches")}?per_page=${headsPerPage}`;
      const page = (number: number, known: string | null) =>
        getIfChanged(scope, `${path}&page=${number}`, z.array(gitHubBranchSummarySchema), known);
      const known = etagsOf(etag);
      let changed: Awaited<ReturnType<typeof page>> = null;
      let unchanged = 0;
      while (changed === null && unchanged < known.length) {
        changed = await page(unchanged + 1, known[unchanged] ?? null);
        if (changed === null) unchanged += 1;
      }
      if (known.length > 0 && changed === null) return null;
      const heads = new Map<string, string>();
      const etags: (string | null)[] = [];
      for (let number = 1; number <= maxHeadPages; number++) {
        const answer = number === unchanged + 1 && changed !== null ? changed : await page(number, null);
        for (const { name: branch, commit } of answer?.value ?? []) heads.set(branch, commit.sha);
        etags.push(answer?.etag ?? null);
        // Only a full page can gain a next one without changing itself.
        if ((answer?.value.length ?? 0) < headsPerPage) return { heads, etag: etagOf(etags) };
      }
      return { heads, etag: null };
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
