export {
  existingOrganizations,
  existingRepositories,
  referencedBundles,
  referencedLayers,
  runningBuilds,
} from "./referenced-files.ts";
export { mergeRemovals, type Removal, runParts } from "./sweep-parts.ts";
export { aloneAmongWorkers, sweepRows } from "./sweep-rows.ts";
