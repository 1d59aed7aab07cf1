export type { StorageReport } from "./host-storage.schema.ts";
export {
  getHostStorage,
  getStorageWarning,
  type HostStorageView,
  recordHostStorage,
  requireRoomForBuilds,
} from "./host-storage.ts";
