export { createOrganization } from "./create-organization.ts";
export { deleteOrganization } from "./delete-organization.ts";
export { describePrincipals, type PrincipalView } from "./describe-principals.ts";
export { findPrincipals } from "./find-principals.ts";
export { displayNameOf, getOrganizationAccess, getProfile } from "./get-profile.ts";
export { getSessionAccess } from "./get-session-access.ts";
export { claimLocalOrganization, ensureLocalOrganization } from "./local-organization.ts";
export {
  type OrganizationAccessView,
  type ProfileView,
  requireExternalId,
} from "./organization.store.ts";
export { proposeOrganization } from "./propose-organization.ts";
export { updateOrganization } from "./update-organization.ts";
export { getUserProfiles, listUserProfiles } from "./user-profiles.ts";
