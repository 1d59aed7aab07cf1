export { findPortalManifest } from "./portal.store.ts";
