/** What other entities build on: no authorization here, so it is not exported from the package. */

export { ofAttempt, selectBuilds } from "./build.store.ts";
export type { BuildView } from "./build.view.ts";
export { buildView, findBuildView } from "./build.view.ts";
export { noteInBuildLog } from "./build-note.ts";
export { type BuildRow, enqueueBuild, insertBuild, supersedeQueued } from "./queue-build.ts";
export { readManifest, storableWarning } from "./stored-build.ts";
