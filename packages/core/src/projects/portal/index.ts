export { createPortal } from "./create-portal.ts";
export { getPortal, listPortals, type PortalListItem } from "./get-portal.ts";
export type { PortalView } from "./portal.view.ts";
export { updatePortal } from "./update-portal.ts";
