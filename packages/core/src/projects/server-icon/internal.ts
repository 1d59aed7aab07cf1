export {
  findIconUrl,
  iconHashOfProject,
  iconUrl,
  readServerIcon,
  storeServerIcon,
  type TakenIcon,
} from "./server-icon.store.ts";
