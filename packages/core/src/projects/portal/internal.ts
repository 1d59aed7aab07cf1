export { findPortalManifest, findPortalServerNames } from "./portal.store.ts";
