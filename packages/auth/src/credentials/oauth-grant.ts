import type { Pool } from "pg";
import { ConfirmedCache } from "./confirmed-cache.ts";
import type { Member } from "./membership.ts";

/** Channel on which the database announces revoked and deleted grants. */
export const oauthGrantChannel = "towpath_oauth_grant";

/** A client's permission to call one server for a person. Which roles may call it, the server's policy says. */
export type OAuthGrant = {
  readonly grantId: string;
  readonly clientId: string;
  readonly projectId: string;
  /** The person, as a member of the server's organization. */
  readonly member: Member;
};

/** Returns those grants that are not revoked, of people who are still members of the server's organization. */
export async function currentGrants(pool: Pool, grantIds: readonly string[]): Promise<OAuthGrant[]> {
  if (grantIds.length === 0) return [];
  const { rows } = await pool.query<Omit<OAuthGrant, "member"> & Member>(
    `SELECT oauth_grant.id AS "grantId", oauth_grant.client_id AS "clientId", project.id AS "projectId",
       member.user_id AS "userId", member.organization_id AS "organizationId", member.role,
       "user".email, "user".email_verified AS "emailVerified"
     FROM oauth_grant
       JOIN project ON project.id = oauth_grant.project_id
       JOIN member ON member.organization_id = project.organization_id AND member.user_id = oauth_grant.user_id
       JOIN "user" ON "user".id = oauth_grant.user_id
     WHERE oauth_grant.id = ANY ($1::uuid[]) AND oauth_grant.revoked_at IS NULL`,
    [grantIds],
  );
  return rows.map(({ grantId, clientId, projectId, ...member }) => ({ grantId, clientId, projectId, member }));
}

/** `currentGrants` with a cache, for the hot path. */
export type GrantChecker = {
  /**
   * The grant, if it holds now.
   *
   * @throws when the database is unavailable and the grant was not seen lately
   */
  find: (grantId: string) => Promise<OAuthGrant | null> | OAuthGrant | null;
  /** Call `changed` for each notification on `towpath_oauth_grant` and `towpath_member`. */
  cache: ConfirmedCache<OAuthGrant>;
  /** Stores when grants were last used, to the minute (`last_used_at`). Call it every half minute. Never rejects. */
  storeUses: () => Promise<void>;
};

/**
 * Creates a checker that checks a grant again after `cacheMs`, by default 5 s: without notifications, a person who was
 * removed or lowered can call for that long. While the database is unavailable, grants that were found before count for
 * `outageMs`, by default not at all.
 */
export function createGrantChecker(pool: Pool, options: { cacheMs?: number; outageMs?: number } = {}): GrantChecker {
  const used = new Set<string>();
  const cache = new ConfirmedCache<OAuthGrant>({
    cacheMs: options.cacheMs ?? 5000,
    outageMs: options.outageMs ?? 0,
    async read(grantIds) {
      const grants = await currentGrants(pool, grantIds);
      return new Map(grants.map((grant) => [grant.grantId, { value: grant }]));
    },
  });
  return {
    cache,
    find(grantId) {
      used.add(grantId);
      return cache.find(grantId);
    },
    async storeUses() {
      const grantIds = [...used];
      used.clear();
      if (grantIds.length === 0) return;
      await pool
        .query(
          `UPDATE oauth_grant SET last_used_at = now()
           WHERE id = ANY ($1::uuid[]) AND revoked_at IS NULL
             AND (last_used_at IS NULL OR last_used_at < now() - interval '45 seconds')`,
          [grantIds],
        )
        // The next calls under these grants store it.
        .catch(() => {});
    },
  };
}
