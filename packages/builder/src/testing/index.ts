export { plainServer } from "./plain-server.ts";
export { cachingOrganization, shareCache } from "./shared-cache.ts";
