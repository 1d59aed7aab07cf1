export { changeOrganizationPicture } from "./change-organization-picture.ts";
export { changeOwnPicture } from "./change-own-picture.ts";
export { getPicture } from "./get-picture.ts";
