export { serverRegistrySettings } from "./config.ts";
export { type IndexAddress, indexesOf, packageIndexSettings } from "./indexes.ts";
export { createPackageIndex } from "./package-index.ts";
export { createServerRegistry } from "./server-registry.ts";
