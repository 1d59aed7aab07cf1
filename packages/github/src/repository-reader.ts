import type { z } from "zod";
import type { AppCredentials, TokenScope } from "./app-credentials.ts";
import type { GitHubConfig, RepositoryAddress } from "./contract.ts";
import { apiPath, type JsonAnswer, requestJson } from "./request.ts";

/** All that reading a repository takes. */
export const readOnly = { metadata: "read", contents: "read" } as const;

export type RepositoryReader = {
  /** GET of any path with a token of the scope. */
  get<Schema extends z.ZodType>(scope: TokenScope, path: string, schema: Schema): Promise<JsonAnswer<z.infer<Schema>>>;
  /** GET of a path below a repository, with a token that reads that repository and no other (GH-2). */
  getOf<Schema extends z.ZodType>(
    address: RepositoryAddress,
    path: string,
    schema: Schema,
  ): Promise<JsonAnswer<z.infer<Schema>>>;
};

export function createRepositoryReader(config: GitHubConfig, credentials: AppCredentials): RepositoryReader {
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

  return {
    get,
    async getOf({ installationId, owner, name }, path, schema) {
      const scope = { installationId, repository: { name }, permissions: readOnly };
      return get(scope, apiPath("repos", owner, name) + path, schema);
    },
  };
}
