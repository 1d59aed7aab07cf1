import { LRUCache } from "lru-cache";
import type { Pool } from "pg";

/** The roles to which core's policy grants `server.call`. Repeated here for the gateway, which doesn't import core. */
export const callingRoles: readonly string[] = ["owner", "admin", "member"];

export type Membership = { readonly userId: string; readonly organizationId: string };

/** Whether a user may call an organization's servers now. @throws when the database is unavailable */
export type MembershipChecker = (membership: Membership) => Promise<boolean>;

/**
 * Creates a checker that caches positive results for `cacheMs`, by default 5 s: a removed member can call for that
 * long.
 */
export function createMembershipChecker(pool: Pool, options: { cacheMs?: number } = {}): MembershipChecker {
  const cacheMs = options.cacheMs ?? 5000;
  const cachedUntil = new LRUCache<string, number>({ max: 10_000 });
  return async (membership) => {
    const key = keyOf(membership);
    if ((cachedUntil.get(key) ?? 0) > performance.now()) return true;
    const [found] = await currentMemberships(pool, [membership]);
    if (!found) return false;
    cachedUntil.set(key, performance.now() + cacheMs);
    return true;
  };
}

/** Returns those memberships that still exist, with a role that may call servers. */
export async function currentMemberships(pool: Pool, memberships: readonly Membership[]): Promise<Membership[]> {
  if (memberships.length === 0) return [];
  const { rows } = await pool.query<Membership>(
    `SELECT user_id AS "userId", organization_id AS "organizationId"
     FROM member
     WHERE (user_id, organization_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) AND role = ANY ($3)`,
    [memberships.map(({ userId }) => userId), memberships.map(({ organizationId }) => organizationId), callingRoles],
  );
  return rows;
}

const keyOf = ({ userId, organizationId }: Membership) => `${organizationId} ${userId}`;
