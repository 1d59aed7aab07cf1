import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
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
   * The grant, if it holds now. One that was found before is still returned while the database is
   * unavailable.
   *
   * @throws when the database is unavailable and the grant was not found before
   */
  find: (grantId: string) => Promise<OAuthGrant | null> | OAuthGrant | null;
  /** Empties the cache. Call it for each notification on `towpath_oauth_grant`. */
  forget: () => void;
  /** Stores when grants were last used, to the minute (`last_used_at`). Call it every half minute. Never rejects. */
  storeUses: () => Promise<void>;
};

type Entry = { grant: OAuthGrant; checkedAt: number };

/** While the database does not answer, it is asked again once in this time, in the background. */
const retryMs = 1000;

/**
 * Creates a checker that checks a grant again after `cacheMs`, by default 5 s: without notifications, a person who was
 * removed or lowered can call for that long.
 */
export function createGrantChecker(pool: Pool, options: { cacheMs?: number } = {}): GrantChecker {
  const cacheMs = options.cacheMs ?? 5000;
  const cache = new LRUCache<string, Entry>({ max: 10_000 });
  const pending = new Map<string, Promise<OAuthGrant | null>>();
  const used = new Set<string>();
  // Incremented by `forget`: what was read before a change must not be cached after it.
  let generation = 0;
  let isAway = false;
  let askedAt = 0;

  const read = async (grantId: string) => {
    const generationBefore = generation;
    const checkedAt = performance.now();
    askedAt = checkedAt;
    try {
      const [grant] = await currentGrants(pool, [grantId]);
      isAway = false;
      if (generationBefore === generation) {
        if (grant) cache.set(grantId, { grant, checkedAt });
        else cache.delete(grantId);
      }
      return grant ?? null;
    } catch (error) {
      isAway = true;
      const known = cache.get(grantId);
      if (known) return known.grant;
      throw error;
    }
  };
  const check = (grantId: string) => {
    const running = pending.get(grantId);
    if (running) return running;
    const checking = read(grantId).finally(() => {
      if (pending.get(grantId) === checking) pending.delete(grantId);
    });
    pending.set(grantId, checking);
    return checking;
  };

  return {
    find(grantId) {
      used.add(grantId);
      const hit = cache.get(grantId);
      if (!hit) return check(grantId);
      const now = performance.now();
      if (now - hit.checkedAt < cacheMs) return hit.grant;
      if (!isAway) return check(grantId);
      // Calls don't wait for a database that does not answer.
      if (now - askedAt > retryMs) check(grantId).catch(() => {});
      return hit.grant;
    },
    forget() {
      generation++;
      pending.clear();
      cache.clear();
    },
    async storeUses() {
      const grantIds = [...used].filter((grantId) => cache.has(grantId));
      used.clear();
      if (grantIds.length === 0) return;
      await pool
        .query(
          `UPDATE oauth_grant SET last_used_at = now()
           WHERE id = ANY ($1::uuid[]) AND (last_used_at IS NULL OR last_used_at < now() - interval '45 seconds')`,
          [grantIds],
        )
        // The next calls under these grants store it.
        .catch(() => {});
    },
  };
}
