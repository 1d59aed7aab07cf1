import { type AccessToken, type SigningKeys, verifyAccessToken, whyRefused } from "@towpath/auth/credentials";
import { LRUCache } from "lru-cache";

/** Problems of an access token, and what its holder can do (`error_description`, RFC 6750 §3). */
export const tokenProblems = {
  expired: "The access token has expired: refresh it, or sign in again.",
  "other-audience":
    "The access token is for another server: ask for one with this server's URL as resource, and sign in again.",
  foreign: "The access token was not issued by this Towpath instance, or was changed: sign in again.",
  ended: "Access was revoked, or the person may no longer call this server: sign in again.",
} as const;
export type TokenProblem = keyof typeof tokenProblems;

export type AccessTokens = {
  /**
   * Verifies a token for the server with the URL `resource`; its grant is still to be checked. The result names the
   * token's authorization only the first time this process sees the token.
   *
   * @throws when the token's key is unknown and the database is unavailable
   */
  verify: (token: string, resource: string) => Promise<AccessToken | TokenProblem>;
  /** The earlier result of `verify`, without decoding the token again; null if the token is unknown or expired. */
  known: (token: string, resource: string) => AccessToken | null;
};

/** Verifies each token once: its signature's result does not change until the token expires. */
export function createAccessTokens(keys: Pick<SigningKeys, "verify">): AccessTokens {
  const cache = new LRUCache<string, { verified: AccessToken; resource: string }>({ max: 5000 });
  const known = (token: string, resource: string) => {
    const hit = cache.get(token);
    return hit && hit.resource === resource && hit.verified.expiresAt > Date.now() ? hit.verified : null;
  };
  return {
    known,
    async verify(token, resource) {
      const hit = known(token, resource);
      if (hit) return hit;
      const verified = await verifyAccessToken({ token, resource, keys });
      if (!verified) return whyRefused({ token, resource });
      cache.set(token, { verified: { ...verified, authorizationId: null }, resource });
      return verified;
    },
  };
}
