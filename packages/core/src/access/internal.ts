export { callableServers, restrictsCallers } from "./access.store.ts";
export { authorizeCaller, mayCallServer } from "./authorize-caller.ts";
