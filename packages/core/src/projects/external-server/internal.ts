export { findExternalManifest } from "./external-server.store.ts";
