export { callableServers, callableTools, restrictsCallers } from "./access.store.ts";
export { authorizeCaller, mayCallServer } from "./authorize-caller.ts";
export { storeInitialAccess } from "./save-access.ts";
