import { z } from "zod";
import type { GitHub, GitHubConfig, UserToken } from "./contract.ts";
import { GitHubError, isGitHubError } from "./errors.ts";
import {
  type GitHubInstallation,
  gitHubInstallationSchema,
  gitHubMembershipSchema,
  gitHubRepositorySchema,
  gitHubUserSchema,
} from "./github.schema.ts";
import { apiPath, nextFromLink, requestJson } from "./request.ts";

/** GitHub answers 200 even when it rejects a code, with `error` in the body. */
const tokenResponseSchema = z.union([
  z.object({ error: z.string(), error_description: z.string().optional() }),
  z.object({
    access_token: z.string(),
    expires_in: z.coerce.number().optional(),
    refresh_token: z.string().optional(),
    refresh_token_expires_in: z.coerce.number().optional(),
  }),
]);

const installationsSchema = z.object({ installations: z.array(gitHubInstallationSchema) });
const repositoriesSchema = z.object({ repositories: z.array(gitHubRepositorySchema) });

/** A user sees few installations. Guards against endless paging. */
const maxInstallationPages = 20;

function inSeconds(seconds: number | undefined): Date | null {
  return seconds === undefined ? null : new Date(Date.now() + seconds * 1000);
}

async function requestUserToken(
  config: GitHubConfig,
  parameters: Record<string, string | undefined>,
): Promise<UserToken> {
  const { value } = await requestJson(
    {
      reach: config.reach,
      method: "POST",
      url: `${config.url}/login/oauth/access_token`,
      body: { client_id: config.clientId, client_secret: config.clientSecret, ...parameters },
    },
    tokenResponseSchema,
  );
  if ("error" in value)
    throw new GitHubError("unauthorized", { detail: `GitHub rejected the code or token: ${value.error}` });
  return {
    accessToken: value.access_token,
    expiresAt: inSeconds(value.expires_in),
    refreshToken: value.refresh_token ?? null,
    refreshTokenExpiresAt: inSeconds(value.refresh_token_expires_in),
  };
}

async function allInstallations(config: GitHubConfig, authorization: string): Promise<GitHubInstallation[]> {
  const installations: GitHubInstallation[] = [];
  for (let page = 1; page <= maxInstallationPages; page += 1) {
    const url = `${config.apiUrl}/user/installations?per_page=100&page=${page}`;
    const { value, link } = await requestJson(
      { reach: config.reach, method: "GET", url, authorization },
      installationsSchema,
    );
    installations.push(...value.installations);
    if (nextFromLink(link, "page") === null) break;
  }
  return installations;
}

async function ownsOrganization(
  config: GitHubConfig,
  authorization: string,
  account: GitHubInstallation["account"],
): Promise<boolean> {
  const url = config.apiUrl + apiPath("user", "memberships", "orgs", account.login);
  try {
    const { value } = await requestJson(
      { reach: config.reach, method: "GET", url, authorization },
      gitHubMembershipSchema,
    );
    // By id: between the two requests, the login can be renamed and taken by another account.
    return value.organization.id === account.id && value.state === "active" && value.role === "admin";
  } catch (error) {
    if (isGitHubError(error, "not_found")) return false;
    throw error;
  }
}

type UserCalls = Pick<
  GitHub,
  | "userAuthorizeUrl"
  | "exchangeCode"
  | "refreshUserToken"
  | "viewer"
  | "userInstallations"
  | "administers"
  | "userRepositories"
>;

/**
 * Calls made as a user who authorized the App. Source: GitHub docs, "Generating a user access token for a GitHub App".
 */
export function createUserCalls(config: GitHubConfig): UserCalls {
  return {
    userAuthorizeUrl({ state, redirectUri, codeChallenge }) {
      const url = new URL(`${config.url}/login/oauth/authorize`);
      url.searchParams.set("client_id", config.clientId);
      url.searchParams.set("state", state);
      if (redirectUri) url.searchParams.set("redirect_uri", redirectUri);
      if (codeChallenge) {
        url.searchParams.set("code_challenge", codeChallenge);
        url.searchParams.set("code_challenge_method", "S256");
      }
      return url.href;
    },
    exchangeCode: ({ code, redirectUri, codeVerifier }) =>
      requestUserToken(config, { code, redirect_uri: redirectUri, code_verifier: codeVerifier }),
    refreshUserToken: (refreshToken) =>
      requestUserToken(config, { grant_type: "refresh_token", refresh_token: refreshToken }),
    async viewer(userToken) {
      const request = {
        reach: config.reach,
        method: "GET",
        url: `${config.apiUrl}/user`,
        authorization: `Bearer ${userToken}`,
      } as const;
      return (await requestJson(request, gitHubUserSchema)).value;
    },
    userInstallations: (userToken) => allInstallations(config, `Bearer ${userToken}`),
    async administers(userToken, viewer, account) {
      if (account.type === "User") return account.id === viewer.id;
      return account.type === "Organization" && ownsOrganization(config, `Bearer ${userToken}`, account);
    },
    async userRepositories(userToken, installationId, page = 1) {
      const path = apiPath("user", "installations", installationId, "repositories");
      const url = `${config.apiUrl}${path}?per_page=100&page=${page}`;
      const request = { reach: config.reach, method: "GET", url, authorization: `Bearer ${userToken}` } as const;
      const { value, link } = await requestJson(request, repositoriesSchema);
      return { items: value.repositories, nextPage: nextFromLink(link, "page") === null ? null : page + 1 };
    },
  };
}
