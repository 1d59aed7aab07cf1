export { type BadgeState, badgeStates, getBadgeState } from "./badge-state.ts";
export { getRegistryEntry, listRegistryNames, listRegistryVersions } from "./registry.ts";
export type { RegistryEntry, RegistryVersion } from "./registry.view.ts";
