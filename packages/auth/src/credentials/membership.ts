import type { Pool } from "pg";
import { ConfirmedCache } from "./confirmed-cache.ts";

/**
 * The roles to which core's policy grants `server.call`: those that may call a server without a policy of its own
 * (GW-15). Repeated here for the gateway, which doesn't import core.
 */
export const callingRoles: readonly string[] = ["owner", "admin", "member"];

/** Channel on which the database announces changed and ended memberships. */
export const memberChannel = "towpath_member";

export type Membership = { readonly userId: string; readonly organizationId: string };

/** A member of an organization as servers see their caller (GW-11). A server's policy decides which roles may call. */
export type Member = Membership & { readonly role: string; readonly email: string; readonly emailVerified: boolean };

export type MembershipChecker = {
  /**
   * The user as a current member of the organization, else null. At once for a recently confirmed member.
   *
   * @throws when the database is unavailable and the member was not confirmed recently
   */
  find: (membership: Membership) => Member | null | Promise<Member | null>;
  /** Members by user and organization. Call `changed` for each notification on `towpath_member`. */
  cache: ConfirmedCache<Member>;
};

/**
 * Creates a checker that caches members for `cacheMs`, by default 5 s: without notifications, a removed member can call
 * for that long. While the database is unavailable, members that were found before count for `outageMs`, by default not
 * at all.
 */
export function createMembershipChecker(
  pool: Pool,
  options: { cacheMs?: number; outageMs?: number } = {},
): MembershipChecker {
  const cache = new ConfirmedCache<Member>({
    cacheMs: options.cacheMs ?? 5000,
    outageMs: options.outageMs ?? 0,
    async read(ids) {
      const members = await currentMemberships(pool, ids.map(membershipOf));
      return new Map(members.map((member) => [idOf(member), { value: member }]));
    },
  });
  return { cache, find: (membership) => cache.find(idOf(membership)) };
}

const idOf = ({ userId, organizationId }: Membership) => `${organizationId} ${userId}`;

function membershipOf(id: string): Membership {
  const [organizationId = "", userId = ""] = id.split(" ");
  return { userId, organizationId };
}

/** Returns those members who still exist, with their current roles. */
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
