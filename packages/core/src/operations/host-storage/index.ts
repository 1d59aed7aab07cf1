export {
  getHostStorage,
  getStorageWarning,
  type HostStorageView,
  recordHostStorage,
  requireStorageForBuilds,
  type StorageReport,
} from "./host-storage.ts";
