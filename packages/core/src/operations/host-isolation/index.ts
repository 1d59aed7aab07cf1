export {
  getHostIsolation,
  getIsolationWarning,
  type HostIsolationView,
  type Protection,
  type ProtectionName,
  recordHostIsolation,
} from "./host-isolation.ts";
