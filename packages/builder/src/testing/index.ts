export { plainServer } from "./plain-server.ts";
export { cachingOrganization, shareCache } from "./shared-cache.ts";
export { repository } from "./tarball.ts";
export { requestOf } from "./try-build.ts";
