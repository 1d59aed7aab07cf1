export { createPortal } from "./create-portal.ts";
export { getPortal, listPortals, type PortalListItem, portalListItemSchema } from "./get-portal.ts";
export { type PortalView, portalViewSchema } from "./portal.view.ts";
export { updatePortal } from "./update-portal.ts";
