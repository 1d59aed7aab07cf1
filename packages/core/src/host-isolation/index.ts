export { getHostIsolation, getIsolationWarning } from "./get-host-isolation.ts";
export { recordHostIsolation } from "./host-isolation.store.ts";
export type { HostIsolationView, Protection, ProtectionName } from "./host-isolation.view.ts";
