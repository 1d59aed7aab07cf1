export { getServerIcon } from "./get-server-icon.ts";
export { readServerIcon, type TakenIcon } from "./server-icon.store.ts";
