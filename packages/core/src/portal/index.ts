export { createPortal } from "./create-portal.ts";
export { getPortal, listPortals } from "./get-portal.ts";
export { updatePortal } from "./update-portal.ts";
