export { claimLocalOrganization } from "./claim-local-organization.ts";
export { createOrganization } from "./create-organization.ts";
export { deleteOrganization } from "./delete-organization.ts";
export { ensureLocalOrganization } from "./ensure-local-organization.ts";
export { getOrganizationAccess } from "./get-organization-access.ts";
export { displayNameOf, getProfile } from "./get-profile.ts";

export type { OrganizationAccessView, ProfileView } from "./organization.view.ts";
