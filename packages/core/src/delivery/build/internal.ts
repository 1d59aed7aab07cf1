/** For other entities of core. Checks no access, so it isn't exported from the package. */

export { isCurrentAttempt, ofAttempt, selectBuilds, writeToBuildLog } from "./build.store.ts";
export type { BuildView } from "./build.view.ts";
export { buildView, findBuildView } from "./build.view.ts";
export { auditedVersion, type BuildRow, enqueueBuild, insertBuild, supersedeQueued } from "./queue-build.ts";
export { raiseFailedBuild } from "./raise-failed-build.ts";
export { rebuildTries } from "./rebuild-tries.ts";
export { readDiagnosis, readLayers, readManifest, readProgram, storableWarning } from "./stored-build.ts";
