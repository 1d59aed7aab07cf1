import type { Role } from "../context/index.ts";

/** The least role that each permission takes. Roles rise: viewer, member, admin, owner. */
const leastRole = {
  "organization.read": "viewer",
  "organization.manage": "admin",
  "organization.delete": "owner",
  "installation.read": "member",
  "installation.manage": "member",
  "project.read": "viewer",
  "project.create": "member",
  "project.update": "member",
  "project.delete": "admin",
  "build.read": "viewer",
  "build.start": "member",
  // Tools have effects: read-only roles must not run them.
  "server.call": "member",
  "secret.read": "member",
  "secret.manage": "member",
  "apiKey.read": "member",
  "apiKey.create": "member",
  "apiKey.manage": "admin",
} as const satisfies Record<string, Role>;

export type Permission = keyof typeof leastRole;

export const permissions = Object.keys(leastRole) as readonly Permission[];

const rank: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

/** Whether a role carries a permission. */
export function roleMay(role: Role, permission: Permission): boolean {
  return rank[role] >= rank[leastRole[permission]];
}

/** All that a role may do, for the account page and the members screen. */
export const permissionsOf = (role: Role): readonly Permission[] =>
  permissions.filter((permission) => roleMay(role, permission));
