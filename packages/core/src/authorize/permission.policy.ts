import type { Role } from "../context/index.ts";

/** The lowest role that has each permission. Roles from low to high: viewer, member, admin, owner. */
const lowestRole = {
  "organization.read": "viewer",
  "organization.manage": "admin",
  "organization.delete": "owner",
  // GitHub Apps serve all organizations of the instance.
  "instance.manage": "owner",
  "member.read": "viewer",
  "member.manage": "admin",
  "audit.read": "admin",
  "installation.read": "member",
  "installation.manage": "member",
  // Ends the builds of everybody's servers that come from there.
  "installation.disconnect": "admin",
  "project.read": "viewer",
  "project.create": "member",
  "project.update": "member",
  "project.delete": "admin",
  // Writes to the GitHub account with the App's rights, and what is written may run there as GitHub Actions.
  "repository.continue": "admin",
  "build.read": "viewer",
  "build.start": "member",
  // Runs the code of strangers on this instance.
  "build.approve": "member",
  // Of deployments to production, where the project's setting asks for it.
  "deployment.approve": "admin",
  // Tools have effects: read-only roles must not run them.
  "server.call": "member",
  "access.read": "member",
  // Members could otherwise let in people whom an admin has excluded.
  "access.manage": "admin",
  "limit.manage": "admin",
  "secret.read": "member",
  "secret.manage": "member",
  "secret.decrypt": "member",
  "apiKey.read": "member",
  "apiKey.create": "member",
  "apiKey.manage": "admin",
  "workload.read": "member",
  "workload.manage": "admin",
  "signInIssuer.read": "member",
  // Whose word counts as a member's sign-in.
  "signInIssuer.manage": "admin",
  "alert.read": "member",
  // Sends what happens to addresses elsewhere.
  "alert.manage": "admin",
  "client.read": "member",
  "client.network": "admin",
  "client.disconnect": "admin",
  "adminJwt.manage": "admin",
} as const satisfies Record<string, Role>;

export type Permission = keyof typeof lowestRole;

export const permissions = Object.keys(lowestRole) as readonly Permission[];

const rank: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

/** Whether a role has a permission. */
export function roleMay(role: Role, permission: Permission): boolean {
  return rank[role] >= rank[lowestRole[permission]];
}

/**
 * What no API key may do: what would outlast its revocation (further keys, members, sign-in tokens), and what concerns
 * the organization itself.
 */
const notForKeys: ReadonlySet<Permission> = new Set([
  "organization.manage",
  "organization.delete",
  "instance.manage",
  "member.manage",
  "installation.manage",
  "installation.disconnect",
  "apiKey.create",
  "apiKey.manage",
  "workload.manage",
  "signInIssuer.manage",
  "secret.decrypt",
  "adminJwt.manage",
]);

/** Whether an API key that may manage servers can have a permission, if its role has it. */
export const keyMay = (permission: Permission): boolean => !notForKeys.has(permission);

/** All permissions of a role, for the account page and the members screen. */
export const permissionsOf = (role: Role): readonly Permission[] =>
  permissions.filter((permission) => roleMay(role, permission));
