export { type IndexAddress, indexesOf, packageIndexSettings } from "./indexes.ts";
export { createPackageIndex } from "./package-index.ts";
