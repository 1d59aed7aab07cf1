import { createPrivateKey } from "node:crypto";
import { SignJWT } from "jose";
import { z } from "zod";
import type { GitHubConfig } from "./contract.ts";
import { GitHubError, isGitHubError } from "./errors.ts";
import { apiPath, requestJson } from "./request.ts";

/**
 * The scope of an installation token. Without `repository`: all of the installation's repositories, to list them.
 */
export type TokenScope = {
  readonly installationId: number;
  readonly repository?: { readonly name: string } | { readonly id: number };
  readonly permissions: Readonly<Record<string, "read" | "write">>;
};

const tokenSchema = z.object({ token: z.string(), expires_at: z.iso.datetime({ offset: true }) });

type InstallationToken = z.infer<typeof tokenSchema>;
type CachedToken = { readonly token: Promise<string>; expiresAtMs: number };

/** A token isn't used in its last five minutes, so that it doesn't expire during a download. */
const expiryMarginMs = 5 * 60_000;
const maxCachedTokens = 500;

export type AppCredentials = {
  /** Authorization header of the App itself; expires in nine minutes. */
  appAuthorization(): Promise<string>;
  /** Makes a call with a token of that scope; if GitHub rejects a cached token, once more with a new one. */
  withInstallationToken<Result>(scope: TokenScope, call: (authorization: string) => Promise<Result>): Promise<Result>;
};

async function requestToken(
  config: GitHubConfig,
  authorization: string,
  scope: TokenScope,
): Promise<InstallationToken> {
  const repository = scope.repository;
  const url = config.apiUrl + apiPath("app", "installations", scope.installationId, "access_tokens");
  const body = {
    permissions: scope.permissions,
    ...(repository && ("id" in repository ? { repository_ids: [repository.id] } : { repositories: [repository.name] })),
  };
  try {
    return (await requestJson({ reach: config.reach, method: "POST", url, authorization, body }, tokenSchema)).value;
  } catch (error) {
    // 422: the installation has no access to that repository, so for the caller it doesn't exist.
    if (repository && isGitHubError(error, "invalid")) {
      throw new GitHubError("not_found", { status: error.status, detail: error.message, cause: error });
    }
    throw error;
  }
}

/** Creates the App's tokens and caches them by scope, in memory only (GH-2). */
export function createAppCredentials(config: GitHubConfig): AppCredentials {
  const key = createPrivateKey(config.privateKey);
  const cache = new Map<string, CachedToken>();

  async function appAuthorization(): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    // Issued a minute ago, as GitHub recommends, to allow for clock drift. GitHub accepts at most ten minutes.
    const jwt = new SignJWT({}).setProtectedHeader({ alg: "RS256", typ: "JWT" }).setIssuer(config.appId);
    return `Bearer ${await jwt
      .setIssuedAt(now - 60)
      .setExpirationTime(now + 540)
      .sign(key)}`;
  }

  async function fetchToken(scope: TokenScope, entry: () => CachedToken): Promise<string> {
    const { token, expires_at: expiresAt } = await requestToken(config, await appAuthorization(), scope);
    entry().expiresAtMs = Date.parse(expiresAt) - expiryMarginMs;
    return token;
  }

  function tokenFor(scope: TokenScope, cacheKey: string): Promise<string> {
    const cached = cache.get(cacheKey);
    if (cached && cached.expiresAtMs > Date.now()) return cached.token;
    const oldest = cache.keys().next().value;
    if (cache.size >= maxCachedTokens && oldest !== undefined) cache.delete(oldest);
    // Concurrent callers share the request; its response sets the expiry.
    const entry: CachedToken = { token: fetchToken(scope, () => entry), expiresAtMs: Number.POSITIVE_INFINITY };
    cache.delete(cacheKey);
    cache.set(cacheKey, entry);
    entry.token.catch(() => {
      if (cache.get(cacheKey) === entry) cache.delete(cacheKey);
    });
    return entry.token;
  }

  async function withInstallationToken<Result>(
    scope: TokenScope,
    call: (authorization: string) => Promise<Result>,
  ): Promise<Result> {
    const cacheKey = JSON.stringify([scope.installationId, scope.repository ?? null, scope.permissions]);
    const wasCached = cache.has(cacheKey);
    const token = await tokenFor(scope, cacheKey);
    try {
      return await call(`Bearer ${token}`);
    } catch (error) {
      if (!isGitHubError(error, "unauthorized")) throw error;
      cache.delete(cacheKey);
      if (!wasCached) throw error;
      return call(`Bearer ${await tokenFor(scope, cacheKey)}`);
    }
  }

  return { appAuthorization, withInstallationToken };
}
