export { findIconUrl, iconUrl, readServerIcon, storeServerIcon, type TakenIcon } from "./server-icon.store.ts";
