import type { Pool } from "pg";
import { ConfirmedCache } from "./confirmed-cache.ts";
import type { Member } from "./membership.ts";

/** Channel on which the database announces revoked and deleted grants. */
export const oauthGrantChannel = "towpath_oauth_grant";

/** A client's permission to call one server for a person. The server's policy decides which roles may call it. */
export type OAuthGrant = {
  readonly grantId: string;
  readonly clientId: string;
  readonly projectId: string;
  /** The person, as a member of the server's organization. */
  readonly member: Member;
};

/** What ends an access token. `familyId`: its sign-in; null for tokens of earlier versions. */
export type GrantedSignIn = { readonly grantId: string; readonly familyId: string | null };

export const nameOfSignIn = ({ grantId, familyId }: GrantedSignIn) =>
  familyId === null ? grantId : `${grantId} ${familyId}`;

function signInOf(name: string): GrantedSignIn {
  const [grantId = "", familyId = null] = name.split(" ");
  return { grantId, familyId };
}

/**
 * The grants of those sign-ins (by `nameOfSignIn`) that have not ended, under grants that are not revoked, of people who
 * are still members of the server's organization.
 */
export async function currentGrants(pool: Pool, names: readonly string[]): Promise<Map<string, OAuthGrant>> {
  if (names.length === 0) return new Map();
  const signIns = names.map(signInOf);
  const { rows } = await pool.query<Omit<OAuthGrant, "member"> & Member & { familyId: string | null }>(
    `SELECT oauth_grant.id AS "grantId", asked.family_id AS "familyId", oauth_grant.client_id AS "clientId",
       project.id AS "projectId", member.user_id AS "userId", member.organization_id AS "organizationId", member.role,
       "user".email, "user".email_verified AS "emailVerified"
     FROM unnest($1::uuid[], $2::uuid[]) AS asked (grant_id, family_id)
       JOIN oauth_grant ON oauth_grant.id = asked.grant_id
       JOIN project ON project.id = oauth_grant.project_id
       JOIN member ON member.organization_id = project.organization_id AND member.user_id = oauth_grant.user_id
       JOIN "user" ON "user".id = oauth_grant.user_id
     WHERE oauth_grant.revoked_at IS NULL
       AND (asked.family_id IS NULL OR asked.family_id <> ALL (oauth_grant.ended_families))`,
    [signIns.map(({ grantId }) => grantId), signIns.map(({ familyId }) => familyId)],
  );
  return new Map(
    rows.map(({ grantId, familyId, clientId, projectId, ...member }) => [
      nameOfSignIn({ grantId, familyId }),
      { grantId, clientId, projectId, member },
    ]),
  );
}

/** `currentGrants` with a cache, for the hot path. */
export type GrantChecker = {
  /**
   * The grant, if it and the sign-in are valid now.
   *
   * @throws when the database is unavailable and the sign-in was not confirmed recently
   */
  find: (signIn: GrantedSignIn) => Promise<OAuthGrant | null> | OAuthGrant | null;
  /** Call `changed` for each notification on `towpath_oauth_grant` and `towpath_member`. */
  cache: ConfirmedCache<OAuthGrant>;
  /** Stores when grants were last used, to the minute (`last_used_at`). Call it every half minute. Never rejects. */
  storeUses: () => Promise<void>;
};

/**
 * Creates a checker that checks a grant again after `cacheMs`, by default 5 s: without notifications, a removed or
 * demoted person can call for that long. While the database is unavailable, known grants count for `outageMs`, by
 * default not at all.
 */
export function createGrantChecker(pool: Pool, options: { cacheMs?: number; outageMs?: number } = {}): GrantChecker {
  const used = new Set<string>();
  const cache = new ConfirmedCache<OAuthGrant>({
    cacheMs: options.cacheMs ?? 5000,
    outageMs: options.outageMs ?? 0,
    async read(names) {
      const grants = await currentGrants(pool, names);
      return new Map([...grants].map(([name, grant]) => [name, { value: grant }]));
    },
  });
  return {
    cache,
    find(signIn) {
      used.add(signIn.grantId);
      return cache.find(nameOfSignIn(signIn));
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
