export { getHostIsolation, getIsolationWarning } from "./get-host-isolation.ts";
export type { HostIsolationView, IsolationWarning, Protection, ProtectionName } from "./host-isolation.view.ts";
export { recordHostIsolation } from "./record-host-isolation.ts";
