import { LRUCache } from "lru-cache";
import type { Pool } from "pg";

/**
 * The roles to which core's policy grants `server.call`: those that may call a server without a policy of its own
 * (GW-15). Repeated here for the gateway, which doesn't import core.
 */
export const callingRoles: readonly string[] = ["owner", "admin", "member"];

/** Channel on which the database announces changed and ended memberships. */
export const memberChannel = "towpath_member";

export type Membership = { readonly userId: string; readonly organizationId: string };

/** A person in an organization, as servers are told who calls (GW-11). Which roles may call, a server's policy says. */
export type Member = Membership & { readonly role: string; readonly email: string; readonly emailVerified: boolean };

export type MembershipChecker = {
  /** The user as a member of the organization now; null for others. @throws when the database is unavailable */
  find: (membership: Membership) => Promise<Member | null>;
  /** Empties the cache. Call it for each notification on `towpath_member`. */
  forget: () => void;
};

/**
 * Creates a checker that caches members for `cacheMs`, by default 5 s: without notifications, a removed member can call
 * for that long.
 */
export function createMembershipChecker(pool: Pool, options: { cacheMs?: number } = {}): MembershipChecker {
  const cacheMs = options.cacheMs ?? 5000;
  const cache = new LRUCache<string, { member: Member; until: number }>({ max: 10_000 });
  // Incremented by `forget`: what was read before a change must not be cached after it.
  let generation = 0;
  return {
    async find(membership) {
      const key = keyOf(membership);
      const hit = cache.get(key);
      if (hit && hit.until > performance.now()) return hit.member;
      const generationBefore = generation;
      const [member] = await currentMemberships(pool, [membership]);
      if (!member) return null;
      if (generationBefore === generation) cache.set(key, { member, until: performance.now() + cacheMs });
      return member;
    },
    forget() {
      generation++;
      cache.clear();
    },
  };
}

/** Returns those members who still exist, with the roles that they have now. */
export async function currentMemberships(pool: Pool, memberships: readonly Membership[]): Promise<Member[]> {
  if (memberships.length === 0) return [];
  const { rows } = await pool.query<Member>(
    `SELECT member.user_id AS "userId", member.organization_id AS "organizationId", member.role,
       "user".email, "user".email_verified AS "emailVerified"
     FROM member JOIN "user" ON "user".id = member.user_id
     WHERE (member.user_id, member.organization_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))`,
    [memberships.map(({ userId }) => userId), memberships.map(({ organizationId }) => organizationId)],
  );
  return rows;
}

const keyOf = ({ userId, organizationId }: Membership) => `${organizationId} ${userId}`;
