import { z } from "zod";
import type { AppCredentials, TokenScope } from "./app-credentials.ts";
import type { GitHub, GitHubConfig, RepositoryAddress } from "./contract.ts";
import { GitHubError, isGitHubError } from "./errors.ts";
import {
  gitHubBranchSchema,
  gitHubBranchSummarySchema,
  gitHubCommitSchema,
  gitHubRepositorySchema,
} from "./github.schema.ts";
import { apiPath, type JsonAnswer, nextFromLink, requestJson, requestStream } from "./request.ts";

const repositoriesSchema = z.object({ repositories: z.array(gitHubRepositorySchema) });

/** An object for a file, an array for a folder. */
const contentsSchema = z.union([
  z.array(z.unknown()),
  z.object({ type: z.string(), encoding: z.string().optional(), content: z.string().optional() }),
]);

const treeSchema = z.object({
  tree: z.array(z.object({ path: z.string(), mode: z.string(), type: z.string(), size: z.number().optional() })),
  truncated: z.boolean().default(false),
});

/** Regular files; links and submodules are no candidates for anything. */
const fileModes = new Set(["100644", "100755"]);

const readOnly = { metadata: "read", contents: "read" } as const;

type RepositoryCalls = Pick<
  GitHub,
  | "repositories"
  | "repository"
  | "repositoryById"
  | "branches"
  | "branch"
  | "commit"
  | "fileExists"
  | "readFile"
  | "listFiles"
  | "tarball"
>;

/** The calls made as an installation, each with a token that reads nothing but the repository asked for. */
export function createRepositoryCalls(config: GitHubConfig, credentials: AppCredentials): RepositoryCalls {
  function get<Schema extends z.ZodType>(
    scope: TokenScope,
    path: string,
    schema: Schema,
  ): Promise<JsonAnswer<z.infer<Schema>>> {
    const url = config.apiUrl + path;
    return credentials.withInstallationToken(scope, (authorization) =>
      requestJson({ method: "GET", url, authorization }, schema),
    );
  }

  function scopeOf({ installationId, name }: RepositoryAddress): TokenScope {
    return { installationId, repository: { name }, permissions: readOnly };
  }

  async function getOf<Schema extends z.ZodType>(
    address: RepositoryAddress,
    path: string,
    schema: Schema,
  ): Promise<z.infer<Schema>> {
    const base = apiPath("repos", address.owner, address.name);
    return (await get(scopeOf(address), base + path, schema)).value;
  }

  /** null: no such path or ref. */
  async function contents(address: RepositoryAddress, path: string, ref: string) {
    try {
      const query = `?ref=${encodeURIComponent(ref)}`;
      return await getOf(address, apiPath("contents", ...path.split("/")) + query, contentsSchema);
    } catch (error) {
      if (isGitHubError(error, "not_found")) return null;
      throw error;
    }
  }

  return {
    async repositories(installationId, page = 1) {
      const scope = { installationId, permissions: { metadata: "read" } } as const;
      const path = `/installation/repositories?per_page=100&page=${page}`;
      const { value, link } = await get(scope, path, repositoriesSchema);
      return { items: value.repositories, nextPage: nextFromLink(link, "page") === null ? null : page + 1 };
    },
    repository: (address) => getOf(address, "", gitHubRepositorySchema),
    async repositoryById(installationId, repositoryId) {
      const scope = { installationId, repository: { id: repositoryId }, permissions: readOnly };
      return (await get(scope, apiPath("repositories", repositoryId), gitHubRepositorySchema)).value;
    },
    async branches(address, page = 1) {
      const path = `${apiPath("repos", address.owner, address.name, "branches")}?per_page=100&page=${page}`;
      const { value, link } = await get(scopeOf(address), path, z.array(gitHubBranchSummarySchema));
      return { items: value, nextPage: nextFromLink(link, "page") === null ? null : page + 1 };
    },
    branch: async (address, name) => getOf(address, apiPath("branches", name), gitHubBranchSchema),
    commit: async (address, ref) => getOf(address, apiPath("commits", ref), gitHubCommitSchema),
    async fileExists(address, path, ref) {
      const found = await contents(address, path, ref);
      return found !== null && !Array.isArray(found) && found.type === "file";
    },
    async readFile(address, path, ref) {
      const found = await contents(address, path, ref);
      if (found === null || Array.isArray(found) || found.type !== "file") return null;
      if (found.encoding !== "base64" || found.content === undefined) {
        throw new GitHubError("invalid", {
          publicText: "The file is larger than 1 MB.",
          detail: `${path} is too large`,
        });
      }
      return Buffer.from(found.content, "base64").toString("utf8");
    },
    async listFiles(address, ref) {
      try {
        const tree = await getOf(address, `${apiPath("git", "trees", ref)}?recursive=1`, treeSchema);
        const blobs = tree.tree.filter((entry) => entry.type === "blob" && fileModes.has(entry.mode));
        return { files: blobs.map(({ path, size }) => ({ path, size: size ?? 0 })), truncated: tree.truncated };
      } catch (error) {
        // An empty repository answers 409 here.
        if (isGitHubError(error, "conflict")) return { files: [], truncated: false };
        throw error;
      }
    },
    async tarball({ installationId, repositoryId, owner, name, sha }, signal) {
      const scope = { installationId, repository: { id: repositoryId }, permissions: readOnly };
      const url = config.apiUrl + apiPath("repos", owner, name, "tarball", sha);
      return credentials.withInstallationToken(scope, (authorization) =>
        requestStream({ method: "GET", url, authorization, signal }),
      );
    },
  };
}
