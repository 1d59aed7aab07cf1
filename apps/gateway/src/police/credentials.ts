import { type ApiKeyChecker, apiKeyPrefix, verifyAdminJwt } from "@towpath/auth/credentials";
import type { Route } from "../read-model/routes.ts";
import { Refusal } from "../refusal.ts";

/** Who sends a request, as the request log and the server see it. */
export type Principal = {
  /** key:<id>, admin, or anonymous */
  id: string;
  /** What the server is told (GW-11); null where the platform does not know the caller. */
  actor: { type: "api-key" | "admin"; organizationId: string; userId: string | null } | null;
};

export const anonymous: Principal = { id: "anonymous", actor: null };

type Caller = { authorization: string | undefined; url: string };
export type Authenticate = (route: Route, caller: Caller) => Promise<Principal> | Principal;

/**
 * Makes the check of who is calling (GW-4). In the modes towpath-public and passthrough everybody is let through:
 * those servers are open, or ask themselves. In towpath-cloud the caller shows an API key of the project's
 * organization or the project's admin JWT.
 *
 * The check throws Refusal 401 (nothing or nothing valid shown), 403 (another organization's key) or 503 (cannot be
 * checked now, so the answer is no).
 */
export function createAuthenticate(parts: { apiKeys: ApiKeyChecker; secret: string }): Authenticate {
  const tokens = createAdminTokenCache(parts.secret);
  return (route, caller) => (route.authMode === "towpath-cloud" ? check(route, caller) : anonymous);

  async function check(route: Route, caller: Caller): Promise<Principal> {
    if (/[?&]access_token=/.test(caller.url)) {
      throw unauthorized(
        "invalid_request",
        "Tokens in the URL end up in logs and are refused: use the Authorization header.",
      );
    }
    const token = /^Bearer +([^\s,]+)$/i.exec(caller.authorization ?? "")?.[1];
    if (token === undefined) {
      throw unauthorized(
        null,
        "This server asks for credentials: send `Authorization: Bearer` with an API key of its organization.",
      );
    }
    const principal = token.startsWith(apiKeyPrefix) ? await byApiKey(route, token) : await byAdminToken(route, token);
    if (!principal)
      throw unauthorized(
        "invalid_token",
        "The credentials are not valid here or have expired: get new ones in the dashboard.",
      );
    return principal;
  }

  async function byApiKey(route: Route, key: string): Promise<Principal | null> {
    const identity = await parts.apiKeys.verify(key).catch(() => {
      throw new Refusal("credentials_unavailable", "The API key cannot be checked at the moment. Try again shortly.", {
        "retry-after": "2",
      });
    });
    if (!identity) return null;
    if (identity.organizationId !== route.organizationId) {
      throw new Refusal("forbidden", "This API key belongs to another organization than this server.");
    }
    return {
      id: `key:${identity.keyId}`,
      actor: { type: "api-key", organizationId: identity.organizationId, userId: null },
    };
  }

  async function byAdminToken(route: Route, token: string): Promise<Principal | null> {
    const admin = await tokens.verify(route.projectId, token);
    return (
      admin && { id: "admin", actor: { type: "admin", organizationId: route.organizationId, userId: admin.userId } }
    );
  }
}

// A valid token stays valid until it expires, so its check can be remembered that long.
function createAdminTokenCache(secret: string) {
  const remembered = new Map<string, { userId: string | null; expiresAt: number }>();
  return {
    async verify(projectId: string, token: string): Promise<{ userId: string | null } | null> {
      const key = `${projectId} ${token}`;
      const hit = remembered.get(key);
      if (hit && hit.expiresAt > Date.now()) return hit;
      remembered.delete(key);
      const admin = await verifyAdminJwt({ secret, projectId, token });
      if (admin) {
        if (remembered.size >= 1000) remembered.clear();
        remembered.set(key, admin);
      }
      return admin;
    },
  };
}

function unauthorized(error: "invalid_request" | "invalid_token" | null, message: string): Refusal {
  const detail = error === null ? "" : `, error="${error}", error_description="${message.replaceAll(/["\\`]/g, "'")}"`;
  return new Refusal("unauthorized", message, { "www-authenticate": `Bearer realm="towpath"${detail}` });
}
