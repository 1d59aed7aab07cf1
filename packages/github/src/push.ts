import type { RepositoryAddress } from "@towpath/core/ports";
import { z } from "zod";
import type { AppCredentials } from "./app-credentials.ts";
import type { GitHub, GitHubConfig } from "./contract.ts";
import { isGitHubError } from "./errors.ts";
import { gitHubInstallationSchema, gitHubRepositorySchema } from "./github.schema.ts";
import { readOnly } from "./repositories.ts";
import { apiPath, requestJson } from "./request.ts";

const administration = { administration: "write", metadata: "read" } as const;
const contents = { contents: "write", metadata: "read" } as const;

/** Calls to move a repository with its history to GitHub. */
export function createPushCalls(
  config: GitHubConfig,
  credentials: AppCredentials,
): Pick<GitHub, "createEmptyRepository" | "setDefaultBranch" | "pushToken" | "fetchToken" | "createPullRequest"> {
  const { reach } = config;
  const tokenFor = (
    { installationId, name }: RepositoryAddress,
    permissions: Readonly<Record<string, "read" | "write">>,
  ) =>
    credentials.withInstallationToken({ installationId, repository: { name }, permissions }, async (authorization) =>
      authorization.replace(/^Bearer /, ""),
    );
  return {
    async createEmptyRepository({ installationId, userToken, name, private: isPrivate }) {
      const body = { name, private: isPrivate, auto_init: false };
      const post = async (path: string, authorization: string) => {
        const request = { reach, method: "POST", url: config.apiUrl + path, authorization, body } as const;
        return (await requestJson(request, gitHubRepositorySchema)).value;
      };
      if (userToken !== null) return post("/user/repos", `Bearer ${userToken}`);
      const url = config.apiUrl + apiPath("app", "installations", installationId);
      const authorization = await credentials.appAuthorization();
      const { account } = (await requestJson({ reach, method: "GET", url, authorization }, gitHubInstallationSchema))
        .value;
      const path = apiPath("orgs", account.login, "repos");
      return credentials.withInstallationToken({ installationId, permissions: administration }, (token) =>
        post(path, token),
      );
    },
    async setDefaultBranch({ installationId, owner, name }, branch) {
      const scope = { installationId, repository: { name }, permissions: administration };
      const url = config.apiUrl + apiPath("repos", owner, name);
      await credentials.withInstallationToken(scope, (authorization) =>
        requestJson({ reach, method: "PATCH", url, authorization, body: { default_branch: branch } }, z.unknown()),
      );
    },
    fetchToken: (address) => tokenFor(address, readOnly),
    async pushToken(address) {
      try {
        return await tokenFor(address, { ...contents, workflows: "write" });
      } catch (error) {
        // GitHub answers alike for a permission that the App lacks and a repository that it can't read.
        if (isGitHubError(error, "not_found")) return tokenFor(address, contents);
        throw error;
      }
    },
    async createPullRequest({ owner, name }, { userToken, ...body }) {
      const url = config.apiUrl + apiPath("repos", owner, name, "pulls");
      const authorization = `Bearer ${userToken}`;
      const request = { reach, method: "POST", url, authorization, body } as const;
      return (await requestJson(request, z.object({ html_url: z.string() }))).value.html_url;
    },
  };
}
