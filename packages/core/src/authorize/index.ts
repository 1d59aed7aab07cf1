export {
  actingUserId,
  authorize,
  authorizePlatform,
  authorizeProject,
  authorizeVisible,
  isOrganizationKey,
  type ProjectScope,
  requireUser,
  withAccess,
} from "./authorize.ts";
export { type Permission, permissions, permissionsOf, roleMay } from "./permission.policy.ts";
